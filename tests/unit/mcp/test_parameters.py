from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import InvalidArgument
from memoranda.mcp.arguments import parse
from memoranda.mcp.parameters import Kind, Param, schema

PARAMS = (
    Param("title", required=True),
    Param("content", description="Body.", default="", aliases=("body", "text")),
    Param("tags", Kind.TEXTS, default=()),
    Param("metadata", Kind.MAPPING, default={}),
    Param("page", Kind.INTEGER, default=1, minimum=1, maximum=50),
    Param("ratio", Kind.NUMBER, minimum=0, maximum=1),
    Param("overwrite", Kind.BOOLEAN, default=False),
    Param("mode", choices=("fts", "hybrid"), default="hybrid"),
)


def read(**arguments: Any) -> dict[str, Any]:
    return parse(PARAMS, {"title": "T"} | arguments)


def refused(**arguments: Any) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        read(**arguments)
    return caught.value


def test_defaults_fill_what_is_not_given() -> None:
    assert read() == {
        "title": "T",
        "content": "",
        "tags": (),
        "metadata": {},
        "page": 1,
        "ratio": None,
        "overwrite": False,
        "mode": "hybrid",
    }


def test_null_counts_as_not_given() -> None:
    assert read(page=None, tags=None, content=None) == read()
    assert refused(title=None).parameter == "title"


@pytest.mark.parametrize(
    "value",
    [
        ["a", "b"],
        '["a", "b"]',
        "a,b",
        " a , b ,",
        ["a,b"],
        ["a", "b", "a", " "],
        ("a", "b"),
    ],
)
def test_a_list_may_come_in_every_form(value: object) -> None:
    assert read(tags=value)["tags"] == ("a", "b")


def test_an_empty_list_is_empty_in_every_form() -> None:
    assert [read(tags=value)["tags"] for value in ([], "[]", "", " ", ",")] == [()] * 5


def test_numbers_in_a_list_become_texts() -> None:
    assert read(tags=[2025, "a"])["tags"] == ("2025", "a")


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]], '["a"', '[{"a": 1}]'])
def test_what_is_no_list_of_texts_is_refused(value: object) -> None:
    assert refused(tags=value).parameter == "tags"


def test_an_object_may_come_as_json_in_a_string() -> None:
    assert read(metadata='{"a": [1, null]}')["metadata"] == {"a": [1, None]}
    assert read(metadata={"a": None})["metadata"] == {"a": None}
    assert read(metadata=" ")["metadata"] == {}


@pytest.mark.parametrize("value", ["[1]", "{", ["a"], 3, "[" * 100_000, '{"a": NaN}'])
def test_what_is_no_object_is_refused(value: object) -> None:
    assert refused(metadata=value).parameter == "metadata"


@pytest.mark.parametrize("value", [2, 2.0, "2", " 2 ", "2.0", "+2"])
def test_an_integer_may_come_as_text_or_float(value: object) -> None:
    page = read(page=value)["page"]
    assert page == 2
    assert type(page) is int


@pytest.mark.parametrize("value", ["two", "2.5", 2.5, True, "true", [2], " ", "9" * 30, "٢"])
def test_what_is_no_integer_is_refused_by_name(value: object) -> None:
    error = refused(page=value)
    assert error.parameter == "page"
    assert "page" in error.message


@pytest.mark.parametrize("value", [0, -1, 51, "51", 10**30])
def test_an_integer_out_of_bounds_is_refused(value: object) -> None:
    assert refused(page=value).parameter == "page"


def test_numbers_may_come_as_text() -> None:
    assert read(ratio="0.5")["ratio"] == read(ratio=0.5)["ratio"] == 0.5
    assert read(ratio=1)["ratio"] == 1.0


@pytest.mark.parametrize("value", ["half", "nan", float("inf"), 1.5, True, 10**400])
def test_what_is_no_number_is_refused(value: object) -> None:
    assert refused(ratio=value).parameter == "ratio"


@pytest.mark.parametrize("value", [False, "false", "False", "no", "0", 0, 0.0])
def test_false_is_false_in_every_form(value: object) -> None:
    assert parse(PARAMS, {"title": "T", "overwrite": value})["overwrite"] is False


@pytest.mark.parametrize("value", [True, "true", " TRUE ", "yes", "1", 1])
def test_true_is_true_in_every_form(value: object) -> None:
    assert read(overwrite=value)["overwrite"] is True


@pytest.mark.parametrize("value", ["maybe", " ", 2, [], {}])
def test_what_is_neither_true_nor_false_is_refused(value: object) -> None:
    assert refused(overwrite=value).parameter == "overwrite"


@pytest.mark.parametrize("text", ['{"a": 1}', "[1, 2]", "null", "true", "42", " x \r\n", "a,b"])
def test_text_is_never_reinterpreted(text: str) -> None:
    assert read(content=text)["content"] == text


def test_a_number_given_as_text_becomes_text() -> None:
    assert read(title=2024, content=1.5) | {} == read() | {"title": "2024", "content": "1.5"}


@pytest.mark.parametrize("value", [["a"], {"a": 1}])
def test_lists_and_objects_are_no_text(value: object) -> None:
    assert refused(content=value).parameter == "content"


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "ok \udfff"])
def test_nul_and_lone_surrogates_are_refused_everywhere(text: str) -> None:
    assert refused(content=text).parameter == "content"
    assert refused(tags=[text]).parameter == "tags"
    assert refused(metadata={"a": [text]}).parameter == "metadata"
    assert refused(metadata={text: 1}).parameter == "metadata"
    assert refused(mode=text).parameter == "mode"


def test_in_a_query_they_are_blanks() -> None:
    query = (Param("query", required=True, is_query=True),)
    assert parse(query, {"query": "two\0words \ud800"}) == {"query": "two words  "}


def test_choices_are_case_blind_and_listed_in_the_error() -> None:
    assert read(mode=" FTS ")["mode"] == "fts"
    assert "hybrid" in refused(mode="fuzzy").hint


def test_aliases_are_accepted() -> None:
    assert read(body="B")["content"] == "B"


def test_one_parameter_by_two_names_is_refused() -> None:
    assert refused(body="B", content="C").parameter == "content"
    assert refused(body="B", text="C").parameter == "content"
    assert read(body="B", content=None)["content"] == "B"


def test_a_parameters_own_name_beats_an_alias() -> None:
    params = (Param("path", aliases=("permalink",)), Param("permalink"))
    assert parse(params, {"permalink": "p"}) == {"path": None, "permalink": "p"}


def test_an_unknown_argument_names_the_nearest_known_one() -> None:
    error = refused(tittle="x")
    assert error.parameter == "tittle"
    assert "'title'" in error.hint
    assert "'content'" in refused(boddy="x").hint
    assert "title, content, tags" in refused(zzz="x").hint


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse(PARAMS, {})
    assert caught.value.parameter == "title"


def test_schema_advertises_lists_objects_bounds_and_nothing_else() -> None:
    result = schema(PARAMS)
    assert result["required"] == ["title"]
    assert result["additionalProperties"] is False
    assert "body" not in result["properties"]
    assert result["properties"]["tags"] == {"type": "array", "items": {"type": "string"}}
    assert result["properties"]["metadata"] == {"type": "object"}
    assert result["properties"]["page"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 1,
    }
    assert result["properties"]["mode"]["enum"] == ["fts", "hybrid"]
    assert result["properties"]["overwrite"] == {"type": "boolean", "default": False}


def test_a_spared_parameter_is_listed_as_required_and_may_be_missing() -> None:
    param = Param("text", required=True, spared=True)
    assert schema([param])["required"] == ["text"]
    assert parse([param], {}) == {"text": None}
    assert parse([param], {"text": ""}) == {"text": ""}


@pytest.mark.parametrize("name", [param.name for param in PARAMS])
def test_every_refusal_says_what_to_give(name: str) -> None:
    wrong: list[Any] = [{"a": {}}, [[]], "\0", "\ud83d", 10**5000, float("nan"), "1e999", -7, "[1"]
    errors: list[InvalidArgument] = []
    for value in wrong:
        try:
            read(**{name: value})
        except InvalidArgument as error:
            errors.append(error)
    assert errors
    assert {error.parameter for error in errors} == {name}
    assert all(error.hint for error in errors)


def test_a_number_of_thousands_of_digits_is_refused_and_not_written_out() -> None:
    for name in ("content", "metadata", "overwrite"):
        assert "more than 300 digits" in refused(**{name: 10**5000}).message
    assert "more than 300 digits" in refused(metadata={"a": [10**5000]}).message
    assert read(content=10**18)["content"] == "1" + "0" * 18


def test_an_object_has_a_bounded_depth() -> None:
    deep: Any = 1
    for _ in range(49):
        deep = {"a": deep}
    assert read(metadata=deep)["metadata"] == deep
    for _ in range(3):
        deep = {"a": deep}
    assert "50 levels" in refused(metadata=deep).message


def test_a_text_has_a_bounded_length() -> None:
    params = (Param("name", most_chars=5), Param("names", Kind.TEXTS, most_chars=5))
    assert parse(params, {"name": "12345", "names": ["12345", "67890"]})
    for arguments in ({"name": "123456"}, {"names": ["1", "123456"]}):
        with pytest.raises(InvalidArgument, match="has 6 characters"):
            parse(params, arguments)


def test_what_is_out_of_range_is_told_the_range() -> None:
    assert refused(page=0).hint == "Give an integer from 1 to 50."
    assert refused(ratio=1.5).hint == "Give a number from 0 to 1."
    with pytest.raises(InvalidArgument) as caught:
        parse((Param("n", Kind.INTEGER, minimum=1),), {"n": 0})
    assert caught.value.hint == "Give an integer at least 1."
