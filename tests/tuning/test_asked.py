"""The command line wins over `def search`, which wins over our own choice."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import annotune
from support.regions import text_source

from annotune.diagnostics import AnnotuneError
from annotune.ir.region import Region
from annotune.tuning.config import RunConfig, Wanted, over_words, wanted

TEXT = """\
void f(int n, double *restrict y, const double *restrict x)
{{
    /*@ begin PerfTuning (
      def input_params {{ param n = 100; }}
      def search {{ {arguments} }}
    ) @*/
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
    /*@ end @*/
}}
"""


def region(arguments: str = "") -> Region:
    (found,) = text_source(TEXT.format(arguments=arguments)).regions
    return found


def test_our_own_choice() -> None:
    assert wanted(RunConfig(), region()) == Wanted("auto", 0, 100, 90.0)
    assert wanted(RunConfig(), region(), share=0.5).time_s == 45.0


def test_the_annotation_s_choice() -> None:
    asked = region("arg algorithm = 'Randomsearch'; arg time_limit = 2; arg total_runs = 30;")
    assert wanted(RunConfig(), asked) == Wanted("random", 0, 30, 120.0)
    asked = region("arg budget = 20; arg total_runs = 30; arg seed = 5; arg time_limit = 0.5;")
    assert wanted(RunConfig(), asked, share=0.1) == Wanted("auto", 5, 20, 30.0, 0.1)


def test_orio_s_unlimited_is_ours_without_an_option() -> None:
    asked = region("arg time_limit = -1; arg total_runs = -1;")
    assert wanted(RunConfig(), asked) == Wanted()


def test_the_command_line_s_choice() -> None:
    asked = region("arg algorithm = 'Nonsense'; arg time_limit = 2; arg budget = 3; arg seed = 4;")
    found = wanted(RunConfig("tpe", 7, 9, 40.0), asked, share=0.25)
    assert found == Wanted("tpe", 7, 9, 10.0, 0.25)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("arg algorithm = 'Exhaustiv';", "AT645", "did you mean 'exhaustive'?"),
        ("arg algorithm = 3;", "AT645", "there is no search '3'"),
        ("arg budget = 0;", "AT646", "budget is 0, expected a whole number from 1"),
        ("arg total_runs = 2.5;", "AT646", "total_runs is 2.5"),
        ("arg seed = 'x';", "AT646", "seed is 'x', expected a whole number from 0"),
        ("arg time_limit = 'long';", "AT646", "time_limit is 'long', expected a number from 0"),
        ("arg time_limit = True;", "AT646", "time_limit is True"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: str, code: str, words: str) -> None:
    with pytest.raises(AnnotuneError) as refusal:
        wanted(RunConfig(), region(arguments))
    (said,) = refusal.value.diagnostics
    assert said.code == code
    assert words in said.message


def test_check_refuses_it_too_and_emit_does_not_ask(tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT.format(arguments="arg algorithm = 'Exhaustiv'; arg budget = 0;"))
    done = annotune("check", path)
    assert done.code == 1
    assert [code in done.err for code in ("AT645", "AT646")] == [True, True]
    assert annotune("emit", path, "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--search", "exhaustiv"], "did you mean 'exhaustive'?"),
        (["--budget", "0"], "0 is not in the range x>=1"),
        (["--time", "0s"], "'0s' is no positive time"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--jobs", "0"], "0 is not in the range x>=1"),
    ],
)
def test_an_option_that_makes_no_sense(options: list[str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT.format(arguments=""))
    done = annotune("run", path, "-o", tmp_path / "out", *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "out").exists()


def test_a_run_that_took_a_fifth_more_than_its_time_says_so() -> None:
    config = RunConfig(time_s=40.0, begun=100.0)
    assert over_words(config, 147.0) == ()
    (words,) = over_words(config, 182.4)
    assert words.startswith("the run took 82 s where --time gave it 40 s: ")
    assert over_words(RunConfig(begun=100.0), 1e6) == ()
