from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoranda.markdown import legacy_encoding as module
from memoranda.markdown.legacy_encoding import SMALLEST_BYTES, legacy_encoding
from memoranda.markdown.source import decode, encode

RUSSIAN = (
    "# Заметки о саде\n\n- [факт] Весной яблони цветут две недели #сад\n- Полив нужен каждое утро\n\n"
    "Вчера мы посадили три яблони и одну вишню. Земля была ещё холодной, но солнце грело спину. "
    "Сосед говорит, что поздние заморозки опаснее ранних. Поэтому мы укрыли молодые деревья.\n"
)
GREEK = (
    "# Σημειώσεις για τον κήπο\n\n- Το πότισμα γίνεται κάθε πρωί\n\nΧθες φυτέψαμε τρεις μηλιές και μία "
    "κερασιά. Το χώμα ήταν ακόμη κρύο, αλλά ο ήλιος ζέσταινε. Άλλη μέρα θα δούμε τα άνθη της.\n"
)
HEBREW = (
    "# רשימות על הגינה\n\n- להשקות בכל בוקר\n\nאתמול שתלנו שלושה עצי תפוח ודובדבן אחד. האדמה עוד "
    "הייתה קרה אבל השמש חיממה את הגב. השכן אומר שהכפור המאוחר מסוכן יותר.\n"
)
ARABIC = (
    "# ملاحظات عن الحديقة\n\n- السقي كل صباح\n\nبالأمس زرعنا ثلاث شجرات تفاح وشجرة كرز واحدة. كانت "
    "التربة باردة لكن الشمس كانت دافئة. يقول الجار إن الصقيع المتأخر أخطر من المبكر.\n"
)
THAI = "# บันทึกสวน\n\n- รดน้ำทุกเช้า\n\nเมื่อวานเราปลูกต้นแอปเปิลสามต้นและต้นเชอร์รีหนึ่งต้น ดินยังเย็นอยู่แต่แดดอุ่น เพื่อนบ้านบอกว่าน้ำค้างแข็งปลายฤดูอันตรายกว่า\n"
CHINESE = (
    "# 花园笔记\n\n- [事实] 苹果树在春天开花两个星期 #花园\n- 每天早上都要浇水\n\n昨天我们种了三棵苹果树和一棵"
    "樱桃树。土还很冷，但是太阳很暖和。邻居说晚霜比早霜更危险，所以我们把小树盖了起来。\n"
)
TAIWANESE = (
    "# 花園筆記\n\n- 每天早上都要澆水\n\n昨天我們種了三棵蘋果樹和一棵櫻桃樹。土還很冷，但是太陽很暖和。"
    "鄰居說晚霜比早霜更危險，所以我們把小樹蓋了起來。\n"
)
JAPANESE = (
    "# 庭のノート\n\n- 毎朝水をやる\n\nきのう私たちはりんごの木を三本とさくらの木を一本植えました。土はまだ冷たかった"
    "ですが、日差しは暖かかったです。となりの人は遅い霜のほうが危ないと言います。\n"
)
KOREAN = (
    "# 정원 노트\n\n- 매일 아침 물을 준다\n\n어제 우리는 사과나무 세 그루와 벚나무 한 그루를 심었다. 흙은 아직 "
    "차가웠지만 햇볕은 따뜻했다. 이웃은 늦서리가 더 위험하다고 말한다.\n"
)
POLISH = (
    "# Zapiski o ogrodzie\n\n- [fakt] Jabłonie kwitną przez dwa tygodnie\n\nWczoraj posadziliśmy trzy "
    "jabłonie i jedną wiśnię. Ziemia była jeszcze zimna, ale słońce grzało. Sąsiad mówi, że późne "
    "przymrozki są groźniejsze od wczesnych, więc przykryliśmy młode drzewa.\n"
)
WESTERN = (
    "# Notes du jardin\n\n- [fait] Les pommiers fleurissent à Pâques — “deux semaines” #été\n\nHier nous "
    "avons planté trois pommiers et un cerisier près de la forêt. Où était-ce? Der Nachbar sagt, späte "
    "Fröste sind gefährlicher; früh gießen! Mañana, señor, el año próximo. Ela não é irmã de João; "
    "Smørrebrød på øen, «Þór» og ætt. It’s 5 °C at £3 – or €4 for ½ a day.\n"
)


@pytest.mark.parametrize(
    ("text", "codec", "found"),
    [
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (RUSSIAN, "cp866", "cp866"),
        (RUSSIAN, "iso8859-5", "iso8859_5"),
        (GREEK, "cp1253", "cp1253"),
        (GREEK, "iso8859-7", "iso8859_7"),
        (HEBREW, "cp1255", "cp1255"),
        (ARABIC, "cp1256", "cp1256"),
        (THAI, "cp874", "cp874"),
        (CHINESE, "gbk", "gb18030"),
        (CHINESE, "gb18030", "gb18030"),
        (TAIWANESE, "big5", "cp950"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "cp949"),
        (POLISH, "cp1250", "cp1250"),
        (POLISH, "iso8859-2", "iso8859_2"),
    ],
)
def test_a_text_of_its_own_alphabet_is_read_in_its_legacy_encoding(
    text: str, codec: str, found: str
) -> None:
    data = (text * 8).encode(codec)
    assert legacy_encoding(data) == found
    source = decode(data)
    assert source.text == text * 8
    assert encode(source) == data


@pytest.mark.parametrize("copies", [4, 40, 400])
def test_western_text_stays_windows_1252(copies: int) -> None:
    data = (WESTERN * copies).encode("cp1252")
    assert decode(data).encoding == "cp1252"
    assert decode(data).text == WESTERN * copies


@pytest.mark.parametrize(
    "line",
    [
        "ÅÄÖ åäö ÉÈ",
        "• one",
        "5° 6° 7°",
        "† ‡ § ¶",
        "l’été – “où”",
        "ß ÄÖÜ äöü",
        "©®™ ½ ¼ ¾",
        "3×4±2",
    ],
)
def test_rows_of_western_signs_stay_windows_1252(line: str) -> None:
    assert legacy_encoding(f"{line}\nplain words here\n".encode("cp1252") * 100) is None


def test_a_few_foreign_words_in_english_are_not_enough() -> None:
    text = "A plain English line of a longer note, with nothing in it.\n" * 60
    assert legacy_encoding(text.encode() + "Он сказал: привет.\n".encode("cp1251")) is None


def test_a_small_file_is_not_guessed() -> None:
    data = (RUSSIAN * 9).encode("cp1251")
    assert legacy_encoding(data[: SMALLEST_BYTES - 1]) is None
    assert legacy_encoding(data[:SMALLEST_BYTES]) == "cp1251"


def test_capitals_alone_are_not_guessed() -> None:
    assert legacy_encoding((RUSSIAN.upper() * 8).encode("cp866")) is None


def test_utf8_with_a_fault_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_proposed", lambda *_: "cp1251")
    assert legacy_encoding((RUSSIAN * 8).encode() + b"\xff") is None
    assert legacy_encoding((RUSSIAN * 8).encode("cp1251")) == "cp1251"


@pytest.mark.parametrize(
    ("text", "is_alphabet"),
    [
        ("Привет всем соседям сада. " * 9, True),
        ("Привет «всем» – соседям… " * 9, True),
        ("preПривет всемpost xсоседям " * 9, False),
        ("Я и у с о к А в " * 40, False),
        ("Привет ¶¶¶¶ §§§§ ±±±± ©©©© " * 9, False),
        ("Привет всем.", False),
        ("привет всем соседям сада " * 9, False),
        ("пРИВЕТ вСЕМ сОСЕДЯМ " * 9, False),
        ("приВет всем соСедям Сада " * 9, False),
    ],
)
def test_words_of_an_alphabet_are_told_by_their_shape(text: str, is_alphabet: bool) -> None:
    sample = text.encode("cp1251")
    high = re.findall(rb"[\x80-\xff]+", sample)
    n_high = sum(map(len, high))
    assert module._is_alphabet_text(sample, "cp1251", high, n_high) is is_alphabet


@pytest.mark.parametrize(
    ("text", "codec", "is_wide"),
    [
        (CHINESE, "gb18030", True),
        ("蘊鬱齋龘 " * 20, "gb18030", False),
        (CHINESE + "éàèùáó" * 9, "gb18030", False),
        ("漢字仮名交文 " * 20, "cp932", False),
        ("한글과 漢字漢字漢字 " * 20, "cp949", False),
        ("ｱｲｳｴｵ " * 40 + JAPANESE, "cp932", False),
        ("你好世界", "gb18030", False),
    ],
)
def test_wide_text_is_told_by_its_characters(text: str, codec: str, is_wide: bool) -> None:
    assert module._is_wide_text(text.encode(codec), codec) is is_wide


@pytest.mark.parametrize("start", ["", "x", "xx", "xxx", "xxxx", "xxxxx"])
def test_a_very_long_line_is_not_cut_inside_a_character(start: str) -> None:
    text = start + " ".join((CHINESE * 2000).split())
    assert legacy_encoding(text.encode("gbk")) == "gb18030"


def test_a_guess_that_does_not_hold_for_the_whole_file_is_refused() -> None:
    assert legacy_encoding((CHINESE * 8).encode("gbk") + b"plain\n" * 100 + b"\xff\n") is None
    data = (JAPANESE * 16).encode("cp932")
    assert legacy_encoding(data) == "cp932"
    assert data.decode("cp932") + "￢" == (second := data + b"\xee\xf9").decode("cp932")
    assert (
        legacy_encoding(second) is None
    )  # that sign has two codes, and would be written as the other


@given(
    st.sampled_from(
        [
            (RUSSIAN * 8).encode("cp1251"),
            (CHINESE * 16).encode("gb18030"),
            (TAIWANESE * 16).encode("cp950"),
            (JAPANESE * 16).encode("cp932"),
            (JAPANESE * 16).encode("euc_jp"),
            (KOREAN * 16).encode("cp949"),
            (THAI * 16).encode("cp874"),
            (RUSSIAN * 8).encode("utf-16-le"),
            (WESTERN * 8).encode("utf-16-be"),
        ]
    ),
    st.integers(0, 1500),
    st.binary(max_size=6),
)
@example((JAPANESE * 16).encode("cp932"), 2, b"\x81\xca\xee\xf9")  # two codes for one character
def test_every_damaged_legacy_file_survives_the_round_trip(
    data: bytes, at: int, damage: bytes
) -> None:
    data = data[:at] + damage + data[at:]
    assert encode(decode(data)) == data
