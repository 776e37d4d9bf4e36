from __future__ import annotations

from memoranda.model.health import Check, HealthReport, Section, Verdict, ok, problem, warning
from memoranda.model.search_log import SearchSummary
from memoranda.render.health import health_data, health_text

REPORT = HealthReport(
    "1.2.0",
    (
        Section("configuration", (ok("settings", "can be used"),)),
        Section(
            "project",
            (
                problem("index", "it is damaged: row 7 is missing", "Run `memoranda reindex`."),
                warning("up to date", "1 new (a\nb.md)", "Wait."),
            ),
            "notes",
        ),
    ),
    {"notes": SearchSummary(total=2, p50_ms=1.5)},
)


def test_each_check_is_one_line_and_its_hint_another() -> None:
    assert health_text(REPORT, as_shown=str.upper).splitlines() == [
        "Memoranda 1.2.0: 1 problem, 1 warning",
        "",
        "configuration",
        "  ok       settings    can be used",
        "",
        "project notes",
        "  problem  index       it is damaged: row 7 is missing",
        "                       hint: RUN `MEMORANDA REINDEX`.",
        "  warning  up to date  1 new (a\\nb.md)",
        "                       hint: WAIT.",
    ]


def test_on_a_terminal_long_lines_go_on_below_their_column() -> None:
    lines = health_text(REPORT, width=53).splitlines()
    assert lines[6:9] == [
        "  problem  index       it is damaged: row 7 is",
        "                       missing",
        "                       hint: Run `memoranda reindex`.",
    ]
    assert health_text(REPORT, width=40) == health_text(REPORT)  # too narrow for columns


def test_all_well_is_said() -> None:
    report = HealthReport("1.2.0", (Section("system", (ok("disk", "free"),)),))
    assert health_text(report).startswith("Memoranda 1.2.0: all well\n")
    assert report.verdict is Verdict.OK


def test_the_verdict_is_the_worst() -> None:
    assert REPORT.verdict is Verdict.PROBLEM
    (section,) = REPORT.sections[1:]
    milder = HealthReport("1", (Section("project", section.checks[1:]),))
    assert milder.verdict is Verdict.WARNING


def test_the_json_has_all_of_it() -> None:
    data = health_data(REPORT, as_shown=str.upper)
    assert (data["verdict"], data["problems"], data["warnings"]) == ("problem", 1, 1)
    assert [(part["title"], part["project"]) for part in data["sections"]] == [
        ("configuration", None),
        ("project", "notes"),
    ]
    assert data["sections"][1]["checks"][1] == {
        "name": "up to date",
        "verdict": "warning",
        "message": "1 new (a\nb.md)",
        "hint": "WAIT.",
    }
    assert data["searches"]["notes"]["total"] == 2


def test_a_check_without_a_name_of_its_own_column_keeps_its_words() -> None:
    report = HealthReport("1", (Section("x", (Check("a", Verdict.OK, ""),)),))
    assert health_text(report).splitlines()[-1] == "  ok       a"
