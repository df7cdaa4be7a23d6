"""Lowered regions compute what the user's text computes: both compiled with gcc and compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_runs import differing, function
from random_c import Writer
from source_text import refusals

LOOP = "for (i = 0; i < n; i++)"
INNER = "for (j = 0; j < m; j++)"
BEFORE = "int h = 1; i = 9; j = 8; k = 2; off = 1; s = 3; t = 4;"
AFTER = "a[100] = i; a[101] = k; a[102] = off; a[103] = s; a[104] = j; a[105] = t;"
# Nothing is read after these, so that the nest keeps less.
ALONE = (
    f"{LOOP} if (!(b[i] < 0.0)) {{ c[i] = 1; f[i] = 2; }} else f[i] = 3;",
    f"{LOOP} if (a[i] > 0) {{ a[i] = -1; c[i] = 2; }} else {{ c[i] = 3; }}",
    f"{LOOP} if (a[i]) c[i] = 4; else if (!b[i]) c[i] = 1; else if (y && !x || q[i]) c[i] = 2;",
    f"{LOOP} if (q[i] > 0) if (p[i] > 2) a[i] = 1; else a[i] = 2;",
    f"{LOOP} {{ if (a[i] > 0) {{ a[i] = 0; if (a[i+1] > 0) {{ a[i+1] = 2; c[i] = 1; }} "
    "else c[i] = 5; b[i] = 1; } else { a[i] = 9; b[i] = 3; } }",
    "if (m > 0) for (i = 0; i < n / m; i++) a[i] = 1;",
    f"k = 0; {LOOP} {INNER} {{ for (h = 0; h < 3; h++) {{ c[k] = a[j] + h; k++; }} }}",
    f"k = 0; {LOOP} {{ {INNER} {{ c[k] = j; k++; }} "
    "for (j = 0; j < 2; j++) { a[k] = j; k++; } }",
    f"k = 3; {LOOP} {{ c[k] = 1; {INNER} {{ a[k] = b[j]; k += 2; }} k -= 1; }}",
    f"k = 0; {LOOP} for (j = 0; j <= i; j++) {{ c[i] += a[k]; k++; }}",
    f"long kk = 0; {LOOP} {{ a[kk] = kk; kk += m; }}",
    f"unsigned kk = 1; {LOOP} {{ a[i] = kk; kk -= 1; }}",
    f"short kk = 1; {LOOP} {{ a[i] = kk; kk += 3000; }}",
    "for (i = n - 1; i >= 0; i--) a[i] = a[i + 1] + 1;",
    "for (i = n - 1; i >= 2; i -= 3) for (j = m; j > i; --j) c[i] += a[j];",
    "for (unsigned w = 0; w != u; w++) a[w] = w; for (unsigned w = u; w > 0; w--) c[w] = w - 3;",
    "for (i = 0; i < n >> 1; i++) a[i >> 1] = (i - 3) >> 1;",
    "for (i = 0; i != 2 * 4; i += 2) a[i] = i; i = 2; for (; i < n; i++) c[i] = 1;",
    f"{LOOP} {{ p[i] = q[i] >> 2; q[i] = q[i] << 1; q[i + 9] %= 3; p[i] <<= 2; p[i + 1] >>= 1; }}",
    f"{LOOP} {{ q[i] /= 2; q[i] -= 0.5; q[i] *= 1.7; ++q[i]; f[i]--; }}",
    f"{LOOP} {{ k = off = i + 1; a[k] = c[off] = f[i] = x; s = t = a[i]; q[i] = p[i] = y * i; }}",
    f"{LOOP} {{ a[i] = (double)q[i] / (p[i] + 1) + (int)a[i] + (float)a[i]; }}",
    f"{LOOP} c[i] = (unsigned char)q[i] + (unsigned)q[i] / 2 + (size_t)i * m;",
    f"{LOOP} a[i] = (long)i * n + (short)(q[i] * 1000) + (int)2.7;",
    f"{LOOP} a[i] = l / 2 * 3 - u / 4 + (i - 3) / 2;",
    f"{LOOP} if (i - 3 < u) a[i] = 1; else c[i] = 2;",
    f"{LOOP} a[i] = sqrt(fabs(a[i])) + fmax(a[i], f[i]) + abs(q[i]) + pow(x, 2) + sqrt(p[i]);",
    f"{LOOP} a[i] = abs(a[i]) + sqrtf(f[i] * f[i]) + floor(a[i]) + fabs(q[i]) + sqrt(f[i] * f[i]);",
    f"{LOOP} a[i] = q[i] > 0 ? a[i] : c[i] < x ? 2 : q[i];",
    f"{LOOP} a[i] = !q[i] + (p[i] && q[i]) + (a[i] >= 0) - (i == 2 || b[i] != b[i]);",
    f"{LOOP} {{ z[i] = z[i] * (2.0 + 3.0 * I) + conj(z[i]); a[i] = creal(z[i]); b[i] = z[i]; }}",
    f"{LOOP} {{ if (z[i] != 0.0) z[i] = 1.0 / z[i]; z[i] += x; c[i] = cabs(z[i]) + cimag(z[i]); }}",
    f"{LOOP} c[i] = a[i > 0 ? i - 1 : 0] + a[i < n - 1 ? i + 1 : n - 1];",
    f"{LOOP} {{ f[i] = a[i] * y; f[i] += a[i]; a[i] = f[i] > y ? f[i] : a[i]; }}",
    f"float g = 0; {LOOP} if (a[i] > g) g = a[i]; f[3] = g;",
    f"{LOOP} c[i] = (t = a[i] - b[i], t >= 0 ? t : -t) * (s = b[i], s);",
    f"{LOOP} if (i > 2 && (s = a[i] - x, s * s) > (t = c[i], t) || (s = b[i], s > 1)) c[i] = 7;",
    f"{LOOP} {{ s = a[i], t = (x = b[i], x * x); c[i] = (s >= t ? s : t) + (y = s, y += t, y); }}",
    f"{LOOP} {{ y = a[i] / 3, t = y * 2, y *= y; c[i] = (s = t * y, s - y); }}",
    f"{LOOP} {{ c[i] = (k = q[i] - m, k >= 0 ? k : -k) + (off = (y = p[i], 2), off); }}",
    f"{LOOP} {{ s = (t = a[i], t); a[i] = 9; c[i] = s + (y = b[i], y); b[i] = s; }}",
    f"{LOOP} {{ s = (t = b[i], t + 1); c[i + 1] = 2; a[i] = s; }}",
    f"{LOOP} {{ s = (t = b[i], t + 1); {INNER} {{ c[j] = s; b[j] = 5; }} a[i] = 2; }}",
    f"{LOOP} {{ if (q[i] > 0) s = (t = a[i], t); else s = (t = b[i], t * 2); c[i] = s; }}",
    f"{LOOP} c[i] = q[i] > 0 ? (t = a[i], t + i) : (s = b[i], s * (t = 3, t));",
    f"{LOOP} a[(k = q[i] - 3, k < 0 ? -k : k)] = (y = c[i] / 3, y) + (k = 2.7, k) + (h = p[i], h);",
    f"{LOOP} {{ if ((t = a[i], t) > 2) s = a[i]; else s = (t = 4, t); c[i] = (x = s, x); }}",
    f"y = (t = x, t * 2); {LOOP} {{ a[i] = y; c[i] = (s = y, s); }}",
)
BITS = (
    f"{LOOP} a[i ^ 1] = b[i & 3] + (i & 7);",
    f"{LOOP} {{ c[1 ^ i] = i ^ 1; q[i] = (i + 5) & 1; p[3 & i] += 1; }}",
    f"{LOOP} if ((i & 1) == 0) a[i] = 1; else a[i - 1] = ((i >> 1) & 1L);",
    "for (unsigned w = 0; w < u; w++) { a[w & 7u] = w & 3; c[w ^ 1] = w; a[20] = w ^ 1u; }",
    f"{LOOP} a[i] = (u & 7) + (unsigned char)q[i] % 5 + ((unsigned char)q[i] & 15);",
    "for (long w = 0; w < l; w++) { a[w & 1] = w & 3L; c[w ^ 1] = w ^ 1; }",
    f"{LOOP} {{ c[i] = ~i; q[i] = ~q[i] + (~u & 7); a[i << 1 | 1] = i & ~1; b[i] = i & -8; }}",
    "for (unsigned w = 0; w < u; w++) a[w * 4 | 3] = w & ~1u;",
)
READ_AFTER = (
    f"s = a[0]; {LOOP} if (a[i] > s) s = a[i]; a[5] = s;",
    f"s = a[0]; k = 0; {LOOP} if (a[i] > s) {{ s = a[i]; k = i; }}",
    f"{LOOP} {{ if (q[i] > 0) k = i + 1; else k = 2 * i; c[i] = a[k]; }}",
    f"{LOOP} {{ k = i; if (i > 2) k = 0; c[i] = a[k]; }}",
    f"{LOOP} {{ if (q[i] > 0) k = i; if (q[i] > 2) off = k; c[i] = a[off]; }}",
    f"{LOOP} {{ int w; if (i == 0) w = n - 1; else if (i == n - 1) w = 0; else w = i - 1; "
    "c[i] = a[w] + w; }",
    f"{LOOP} {{ off = 0; {INNER} {{ if (q[j] > 0) off = off + 1; }} c[i] = off; }}",
    f"{LOOP} {{ off = i; {INNER} {{ a[off] = j; off = j; }} c[i] = off; }}",
    f"k = 0; {LOOP} {INNER} {{ a[k] = b[j]; k++; }}",
    f"k = 3; {LOOP} {{ c[k] = 1; {INNER} {{ a[k] = b[j]; k += 2; }} k -= 1; }}",
    f"{LOOP} {{ a[k] = x; k += 1; }}",
    f"k = 0; {LOOP} if (q[i] > 0) {{ k++; }}",
    f"{LOOP} {{ k = p[i]; p[i] = 3; c[i] += a[k]; }}",
    f"k = 1; off = 2; {LOOP} {{ int w = k; k = off; off = w; c[i] = a[k]; }}",
    f"k = off + 1; off = 7; {LOOP} a[i] = k;",
    "for (i = n; i > 0; i -= 2) a[i] = i;",
    "for (i = 0, k = 5; i < n; i++, k += 2) a[k] = i;",
    f"for (i = 0; i < n; i++); {INNER} a[j] = i;",
    f"{LOOP} {{ {INNER} a[i] = j; c[i] = j; }}",
    f"{LOOP} if (s > 0) {{ for (int e = 0; e < m; e++) {{ s -= a[e]; if (s < 2) c[i] = s; }} "
    "b[i] = 2; }",
    f"{LOOP} c[i] = (h = p[i], h * h);",
    f"s = 0; {LOOP} s += (x = a[i], x > 0 ? x : -x);",
    f"s = 0; {LOOP} {{ y = s, x = (x = a[i], x * x); s = y >= x ? y : x; }}",
    f"{LOOP} {{ c[i] = s + (x = b[i], x); s = (x = a[i], x); }}",
    f"{LOOP} c[i] = (s = a[i], t = s * s, t + s);",
    f"{LOOP} {{ if ((s = a[i], s > 1)) c[i] = (b[i] = s, b[i] + (t = 2, t)); "
    "else t = (s = 3, 4); }",
    f"{LOOP} a[(k = i, 1, k)] = (b[i] = 2, c[i] = (s = b[i], s), b[i]) > 1 && c[i] > 2;",
)
# Pointers that the function sets before the region, and reads behind it.
WALKING = "double *v = a + 2, *w = b; int *e = p; double *o;"
WALKED = "a[106] = v - a; a[107] = w - b; a[108] = e - p;"
POINTERS = (
    f"{LOOP} *v++ = i;",
    f"{LOOP} {{ *v-- = b[i]; v -= u; }}",
    f"{LOOP} {{ v += -1; v[i] = 2; w = w + m; }}",
    f"{LOOP} {INNER} *v++ += j;",
    f"{LOOP} {{ double *zz = a + i * m; {INNER} zz[j] = *(zz + j + 1) + w[j]; w += 2; }}",
    f"{LOOP} {{ *v = *w++ + *v; v++; if (*w > 0) c[i] = *v; }}",
    f"{LOOP} {{ if (*e++ > 2) c[i] = 1; else a[i] = 2; }} e[3] = 4;",
    f"{LOOP} {{ if (*++e > 2 && q[1] < 5) *v = 1; v += 2; }}",
    "for (v = a; v < a + n; v += 2) *v = 1;",
    "for (v = a + n; v > a; v--) *v = 1; v[1] = 5;",
    f"for (i = 0, o = c; i < n; i++, o++, w--) *o = *w; {INNER} *--w = j;",
    f"{LOOP} {{ o = c + 3; {INNER} *o++ = a[j] + i; o[i] = *(o - 2); }}",
    f"v = a + n; o = v; {LOOP} *o++ = i; w = b + (v - a);",
    f"{LOOP} {{ for (double *zz = v; zz < v + m; zz++) *zz += 1; v += m; }}",
    f"{LOOP} {{ double *zz = &a[i], *y2 = zz + 1; zz[0] = y2[1]; y2++; *y2 = (y2 - zz) * 1.5; }}",
    f"{LOOP} {{ a[i] = *w++, *v++ = 3; }} if (n > m) {{ v++; *v = 2; }} else v += 3;",
    f"v++; {LOOP} *v++ = *w; w += n; *w++ = *v++;",
    f"{LOOP} {{ v[0] = 1, v = v + 1; v[m] = 2; v = v - 2; }}",
    f"v = v + (int)2.5; {LOOP} {{ o = v; {INNER} *o++ = 1; }} o = v; *o = 2; v = a;",
    f"{LOOP} {{ unsigned h2 = i - 3; v[i] = 1; a[9] = *(v + (int)h2); }}",
    f"e += l; {LOOP} {{ *e = i; e -= (short)2; }}",
)
# What no array and number stand for, or no closed form.
NOT_FOLLOWED = {
    f"{LOOP} {{ if (i > 2) v = c; *v = 1; }}": "AT137",
    f"{LOOP} a[i] = i > 2 ? *v++ : 1;": "AT137",
    f"{LOOP} a[i] = *v++ + *v;": "AT137",
    f"{LOOP} if (i > 2 && *v++ > 1) a[i] = 1;": "AT137",
    "for (i = 0; *v++ < 1 && i < n; i++) a[i] = 1;": "AT141",
    f"{LOOP} {{ double **z = &v; *v++ = 1; }}": "AT137",
    f"{LOOP} {{ v = (double *)e; *v++ = 1; }}": "AT137",
    f"{LOOP} {{ v = w = a; *v++ = 1; }}": "AT137",
    f"{LOOP} {{ if (*++e > 2 && e[1] < 5) *v = 1; }}": "AT137",
    f"v = a + n; w = v; {LOOP} *w = i; w = b + (v - a);": "AT137",
}


def test_bits_of_numbers(tmp_path: Path) -> None:
    assert differing([function(body, BEFORE) for body in BITS], tmp_path) == []


def test_pointers_keep_their_meaning(tmp_path: Path) -> None:
    texts = [function(body, BEFORE + WALKING, AFTER + WALKED) for body in POINTERS]
    texts += [function(body, BEFORE + WALKING) for body in POINTERS]
    assert differing(texts, tmp_path) == []


@pytest.mark.parametrize("body", NOT_FOLLOWED)
def test_other_pointers_are_refused(body: str) -> None:
    codes = {d.code for d in refusals(function(body, BEFORE + WALKING, AFTER + WALKED))}
    assert NOT_FOLLOWED[body] in codes


def test_regions_keep_their_meaning(tmp_path: Path) -> None:
    texts = [function(body, BEFORE) for body in ALONE]
    texts += [function(body, BEFORE, AFTER.replace("i;", "0;", 1)) for body in READ_AFTER[:4]]
    texts += [function(body, BEFORE, AFTER) for body in READ_AFTER]
    assert differing(texts, tmp_path) == []


def random_texts(seeds: range) -> list[str]:
    """Return those of the random regions that are not refused."""
    texts = []
    for seed in seeds:
        after = AFTER if seed % 3 == 0 else "a[101] = k; a[102] = off; a[103] = s; a[105] = t;"
        text = function(Writer(seed).region(), BEFORE, after)
        codes = {d.code for d in refusals(text)}
        # The iterator of a loop under a condition is read after, or no loop does anything.
        assert codes <= {"AT151", "AT112"}, text
        texts += [] if codes else [text]
    assert len(texts) > len(seeds) // 2
    return texts


@pytest.mark.slow
def test_random_regions_keep_their_meaning(tmp_path: Path) -> None:
    assert differing(random_texts(range(12)), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 100))
def test_many_random_regions_keep_their_meaning(first: int, tmp_path: Path) -> None:
    assert differing(random_texts(range(first, first + 100)), tmp_path) == []
