"""Texts that are no C, and regions that stand where no region can."""

from __future__ import annotations

from support.cli import CLOSE, OPEN, function

from bad_inputs.case import GOOD, LOOP, Bad, plain, sized

PARAMETERS = "int n, double *restrict a, const double *restrict b"
COPY1 = f"{LOOP} a[i] = b[i];"
INNER = "for (int i = 0; i < n; i++) { a[i] = b[i];"

BAD = {
    "empty": Bad("", "AT101", "the file is empty", "give a C file with an annotated loop nest"),
    "blank": Bad("«» \n\t\n", "AT101", "the file is empty"),
    "no text": Bad("int x;\nab«\0»cd\n", "AT102", "it holds a NUL byte", "give a C source"),
    "UTF-16": Bad("i«\0»n\0t\0", "AT102", "it holds a NUL byte"),
    "comment open": Bad("int x;\n  «/*» for ever\n", "AT104", "this comment is never closed"),
    "only a comment": Bad("«»/* nothing */\n", "AT604", "no annotated region"),
    "no region": Bad(
        "«»int x;\n",
        "AT604",
        "there is no annotated region in this file",
        "put /*@ begin PerfTuning () @*/ before a loop nest",
    ),
    "annotation in a string": Bad(f'«»char *s = "{OPEN}";\n', "AT604", "no annotated region"),
    "semicolon missing": Bad(plain(f"{LOOP} {{ a[i] = b[i] «}}»"), "AT105", "unexpected '}'"),
    "semicolon missing at a line's end": Bad(
        plain(f"{LOOP} {{\na[i] = b[i«]»\n}}"), "AT105", "a ';' is missing behind ']'"
    ),
    "semicolon of a declaration missing": Bad(
        plain(f"{LOOP} {{\ndouble t = b[i«]»\na[i] = t;\n}}"), "AT105", "is missing behind ']'"
    ),
    "semicolon missing behind a name": Bad(
        plain(f"{LOOP} {{\ndouble t = «n»\na[i] = t;\n}}"), "AT105", "is missing behind 'n'"
    ),
    "semicolon missing behind a variable": Bad(
        plain(f"{LOOP} {{\ndouble «t»\na[i] = t;\n}}"), "AT105", "is missing behind 't'"
    ),
    "semicolon missing before the region": Bad(
        function(f"  int k = «3»\n  {OPEN}\n  {COPY1}\n  {CLOSE}"), "AT105", "missing behind '3'"
    ),
    "semicolon of an array missing before a function": Bad(
        f"static double w[10«]»\n\n{plain(COPY1)}", "AT105", "a ';' is missing behind ']'"
    ),
    "semicolon of a struct missing before a function": Bad(
        f"struct p {{ double x; «}}»\n{plain(COPY1)}", "AT105", "a ';' is missing behind '}'"
    ),
    "semicolon of a prototype missing before a function": Bad(
        f"double h(double x«)»\n{plain(COPY1)}", "AT105", "a ';' is missing behind ')'"
    ),
    "operand missing": Bad(plain(f"{LOOP} a[i] = 1 + «;»"), "AT105", "unexpected ';'"),
    "two names": Bad(plain(f"{LOOP} a[i] = b[i] «c»;"), "AT105", "unexpected 'c'"),
    "bracket missing": Bad(plain(f"{LOOP} a[i = b[i]«;»"), "AT105", "unexpected ';'"),
    "loop without a semicolon": Bad(
        plain("for (int i = 0; i < n«)» a[i] = b[i];"), "AT105", "unexpected ')'"
    ),
    "brace missing at the end": Bad(
        function(f"  «{OPEN}»\n  {COPY1}\n  {CLOSE}").rstrip("}\n"),
        "AT110",
        "not inside a function",
    ),
    "C++": Bad(
        f"void f(double «&»x) {{ {OPEN} for (int i = 0; i < 4; i++) x += 1; {CLOSE} }}\n",
        "AT105",
        "unexpected '&'",
    ),
    "Fortran": Bad(plain("do i = 1, «n»"), "AT105", "a ';' is missing behind 'n'"),
    "no semicolon": Bad(
        plain("for (int i = 0; i < n; i++) {\n    a[i] = b[i«]»\n  }"),
        "AT105",
        "missing behind ']'",
    ),
    "prose": Bad(
        f"This is prose.\n«{OPEN}»\n for all i do\n{CLOSE}\n",
        "AT110",
        "the annotated region is not inside a function",
        "into the body of a function",
    ),
    "Python": Bad(f"def f(a):\n    «{OPEN}»\n    pass\n    {CLOSE}\n", "AT110", "not inside"),
    "file scope": Bad(f"double a[5];\n«{OPEN}»\n{CLOSE}\n", "AT110", "not inside a function"),
    "between functions": Bad(f"{GOOD}«{OPEN}»\n{COPY1}\n{CLOSE}\n", "AT110", "not inside"),
    "endif alone": Bad("int x;\n«#endif»\n", "AT106", "'#endif' without its '#if'"),
    "else alone": Bad("int x;\n«#else»\n", "AT106", "'#else' without its '#if'"),
    "if open": Bad("int x;\n«#ifdef A»\nint y;\n", "AT106", "'#if' without its '#endif'"),
    "open in parentheses": Bad(
        "«void»" + plain(f"{LOOP} a[i] = " + "(" * 1500 + "b[i]" + ")" * 1500 + ";")[4:],
        "AT107",
        "too deeply",
    ),
    "long sum": Bad(
        plain(f"{LOOP} a[i] = " + "b[i]+" * 3000 + "b[i];").replace(OPEN, f"«{OPEN}»"),
        "AT107",
        "too deeply",
    ),
    "end outside": Bad(
        function(f"  {OPEN}\n  for (int i = 0; i < n; i++) «{{» a[i] = b[i];\n  {CLOSE}\n  }}"),
        "AT111",
        "cuts a statement in two",
    ),
    "begin inside": Bad(
        function(f"  for (int i = 0; i < n; i++) {{\n  {OPEN}\n  a[i] = b[i]; «}}»\n  {CLOSE}"),
        "AT111",
        "cuts a statement in two",
    ),
    "inside a header": Bad(
        function(f"  for (int i = 0; {OPEN} i < n; i++«)» a[i] = b[i]; {CLOSE}"),
        "AT111",
        "cuts a statement in two",
    ),
    "no nest": Bad(
        function(f"  «{OPEN}»\n  a[0] = 1;\n  {CLOSE}"),
        "AT112",
        "there is no loop nest in the annotated region",
        "put the opening annotation before a 'for' loop",
    ),
    "nothing": Bad(
        function(f"  «{OPEN}»\n  {CLOSE}"),
        "AT112",
        "there is no loop nest in the annotated region",
        "put the opening annotation before a 'for' loop",
    ),
    "left out": Bad(
        function(f"#ifdef NEVER\n  «{OPEN}»\n  {COPY1}\n  {CLOSE}\n#endif"),
        "AT113",
        "the preprocessor leaves the annotated region out",
    ),
    "directive inside": Bad(
        function(f"  {OPEN}\n  {LOOP}\n«#if 1»\n    a[i] = b[i];\n  {CLOSE}\n#endif"),
        "AT114",
        "'#if' inside a region",
    ),
    "bytes that are no UTF-8": Bad(
        sized(f"{LOOP} /* \udcff\udcfe */ a[i] = «update»(b[i]);"),
        "AT130",
        "'update' may have effects",
    ),
    "tabs": Bad(
        function(f"\t{OPEN}\n\t{LOOP}\n\t\t a[i] =\t«update»(b[i]);\n\t{CLOSE}"),
        "AT130",
        "'update' may have effects",
        "if it has none, say so",
    ),
    "after letters of two columns": Bad(
        sized(f"{LOOP} /* 漢字 e\u0301 😀 */ a[i] = «update»(b[i]);"),
        "AT130",
        "'update' may have effects",
    ),
    "after a joined line": Bad(
        sized(f"{LOOP} \\\n    a[i] \\\n  = «update»(b[i]);"), "AT130", "'update' may have effects"
    ),
    "after a comment of lines": Bad(
        sized(f"{LOOP} /* one\n two */ a[i] = «update»(b[i]);"),
        "AT130",
        "'update' may have effects",
    ),
    "beside a macro": Bad(
        sized("for (int i = 0; i < SIZE; i++) a[i] = «update»(b[i]);", top="#define SIZE 64\n"),
        "AT130",
        "'update' may have effects",
    ),
    "under #line": Bad(
        '#line 7 "old.f"\n' + sized(f"{LOOP} a[i] = «update»(b[i]);"),
        "AT130",
        "'update' may have effects",
    ),
}
