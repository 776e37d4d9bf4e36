"""How nine languages write dates and spans of time, as data for `text.dates`. Pure.

Every value is a part of a regular expression, matched case-blind against composed text. A language
without a row has only the dates that are written in numbers, and what dateparser reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DateWords:
    """One language.

    Attributes:
        months: from January, the forms of each; plain text, not expressions.
        weekdays: from Monday.
        units: hour, day, week, month, quarter, year.
        this, last: what stands before a unit.
        last_after: what stands after one.
        rolling: "last" before a number of units; what makes a single unit roll (`the past week`).
        ago: `{n}` and `{unit}` stand for an amount.
        year_in: what must stand before a bare year.
        of: what may stand between day, month and year.
        numbers: written-out amounts.
    """

    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    units: tuple[str, str, str, str, str, str]
    today: str
    yesterday: str
    this: str
    last: str
    rolling: str
    ago: str
    since: str
    before: str
    after: str
    until: str
    year_in: str
    between: str
    from_: str
    and_: str
    last_after: str = "(?!)"
    rolling_one: str = "(?!)"
    of: str = "(?!)"
    numbers: dict[str, int] = field(default_factory=dict)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DATE_WORDS: dict[str, DateWords] = {
    "english": DateWords(
        months=_names(
            "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug "
            "september|sept|sep october|oct november|nov december|dec"
        ),
        weekdays=_names("monday tuesday wednesday thursday friday saturday sunday"),
        units=("hours?|hrs?", "days?", "weeks?", "months?", "quarters?", "years?"),
        today="today",
        yesterday="yesterday",
        this="this",
        last="last|previous",
        rolling="last|past|previous",
        rolling_one=r"(?:(?:in|over|within|during) (?:the )?(?:last|past)|(?:the )?past)",
        ago="{n} {unit} ago",
        since="since",
        before="before|prior to",
        after="after",
        until="until|till",
        year_in="in|during|in the year",
        between="between",
        from_="from",
        and_="and|to|until|till|through",
        of="of",
        numbers={
            "a": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "few": 3, "a few": 3,
            "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
        },
    ),
    "german": DateWords(
        months=_names(
            "januar|jänner|jan februar|feb märz april|apr mai juni juli august|aug "
            "september|sept|sep oktober|okt november|nov dezember|dez"
        ),
        weekdays=_names("montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag"),
        units=("stunden?", "tage?n?", "wochen?", "monat(?:e?n?|s)", "quartal(?:e?n?|s)", "jahr(?:e?n?|s)"),
        today="heute",
        yesterday="gestern",
        this="diese[nmrs]?",
        last="(?:letzte|vergangene|vorige)[nmrs]?",
        rolling="(?:letzten|vergangenen)",
        ago="vor {n} {unit}",
        since="seit(?: dem)?",
        before="vor(?: dem)?",
        after="nach(?: dem)?",
        until="bis(?: zum)?",
        year_in="im jahre?|in",
        between="zwischen",
        from_="von",
        and_="und|bis",
        numbers={"einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4},
    ),
    "french": DateWords(
        months=_names(
            "janvier|janv février|févr mars avril mai juin juillet|juil août "
            "septembre|sept octobre|oct novembre|nov décembre|déc"
        ),
        weekdays=_names("lundi mardi mercredi jeudi vendredi samedi dimanche"),
        units=("heures?", "jours?", "semaines?", "mois", "trimestres?", "ans?|années?"),
        today="aujourd['’]hui",
        yesterday="hier",
        this="cet(?:te)?|ce",
        last="(?!)",
        last_after="dernière?|passée?",
        rolling="derniers|dernières",
        ago="il y a {n} {unit}",
        since="depuis(?: le)?",
        before="avant(?: le)?",
        after="après(?: le)?",
        until="jusqu['’](?:en|au|à)",
        year_in="en",
        between="entre",
        from_="de",
        and_="et|à",
        numbers={"un": 1, "une": 1, "deux": 2, "trois": 3},
    ),
    "spanish": DateWords(
        months=_names(
            "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre"
        ),
        weekdays=_names("lunes martes miércoles jueves viernes sábado domingo"),
        units=("horas?", "días?", "semanas?", "mes(?:es)?", "trimestres?", "años?"),
        today="hoy",
        yesterday="ayer",
        this="est[ae]",
        last="últim[oa]",
        last_after="pasad[oa]",
        rolling="últim[oa]s",
        ago="hace {n} {unit}",
        since="desde(?: el)?",
        before="antes del?",
        after="después del?",
        until="hasta(?: el)?",
        year_in="en",
        between="entre",
        from_="de",
        and_="y|a",
        of="del?",
        numbers={"un": 1, "una": 1, "dos": 2, "tres": 3},
    ),
    "italian": DateWords(
        months=_names(
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
        ),
        weekdays=_names("lunedì martedì mercoledì giovedì venerdì sabato domenica"),
        units=("or[ae]", "giorn[oi]", "settiman[ae]", "mes[ei]", "trimestr[ei]", "ann[oi]"),
        today="oggi",
        yesterday="ieri",
        this="quest[oa]|quest['’]",
        last="scors[oa]|ultim[oa]",
        last_after="scors[oa]|passat[oa]",
        rolling="ultim[ie]",
        ago="{n} {unit} fa",
        since="dal|da",
        before="prima del?",
        after="dopo(?: il)?",
        until="fino al?",
        year_in="nel",
        between="tra|fra",
        from_="da",
        and_="e|a",
        numbers={"un": 1, "una": 1, "due": 2, "tre": 3},
    ),
    "portuguese": DateWords(
        months=_names(
            "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
        ),
        weekdays=_names("segunda(?:-feira)? terça(?:-feira)? quarta(?:-feira)? quinta(?:-feira)? sexta(?:-feira)? sábado domingo"),
        units=("horas?", "dias?", "semanas?", "m[êe]s(?:es)?", "trimestres?", "anos?"),
        today="hoje",
        yesterday="ontem",
        this="n?est[ae]",
        last="últim[oa]",
        last_after="passad[oa]",
        rolling="últim[oa]s",
        ago="há {n} {unit}",
        since="desde",
        before="antes d[eo]",
        after="depois d[eo]|após",
        until="até",
        year_in="em",
        between="entre",
        from_="de",
        and_="e|a",
        of="de",
        numbers={"um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3},
    ),
    "dutch": DateWords(
        months=_names(
            "januari februari maart april mei juni juli augustus september oktober november december"
        ),
        weekdays=_names("maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"),
        units=("u(?:u)?r(?:en)?", "dag(?:en)?", "we(?:ek|ken)", "maand(?:en)?", "kwarta(?:al|len)", "ja(?:ar|ren)"),
        today="vandaag",
        yesterday="gisteren",
        this="deze|dit",
        last="vorige?|afgelopen",
        rolling="laatste|afgelopen",
        ago="{n} {unit} geleden",
        since="sinds",
        before="vóór|eerder dan",
        after="na",
        until="tot",
        year_in="in",
        between="tussen",
        from_="van",
        and_="en|tot",
        numbers={"een": 1, "twee": 2, "drie": 3},
    ),
    "swedish": DateWords(
        months=_names(
            "januari februari mars april maj juni juli augusti september oktober november december"
        ),
        weekdays=_names("måndag(?:s|en)? tisdag(?:s|en)? onsdag(?:s|en)? torsdag(?:s|en)? fredag(?:s|en)? lördag(?:s|en)? söndag(?:s|en)?"),
        units=("timm(?:e|ar(?:na)?)", "dag(?:en|ar(?:na)?)?", "veck(?:a|an|or(?:na)?)", "månad(?:en|er(?:na)?)?", "kvartal(?:et|en)?", "år(?:et|en)?"),
        today="i dag|idag",
        yesterday="i går|igår",
        this="denna|detta|den här|det här",
        last="förra",
        rolling="senaste",
        ago="för {n} {unit} sedan",
        since="sedan",
        before="före",
        after="efter",
        until="till",
        year_in="år|under",
        between="mellan",
        from_="från",
        and_="och|till",
        numbers={"en": 1, "ett": 1, "två": 2, "tre": 3},
    ),
    "russian": DateWords(
        months=_names(
            "январь|января|январе февраль|февраля|феврале март|марта|марте апрель|апреля|апреле май|мая|мае "
            "июнь|июня|июне июль|июля|июле август|августа|августе сентябрь|сентября|сентябре "
            "октябрь|октября|октябре ноябрь|ноября|ноябре декабрь|декабря|декабре"
        ),
        weekdays=_names("понедельника? вторника? сред[аыу] четверга? пятниц[аыу] суббот[аыу] воскресень[ея]"),
        units=("час(?:а|ов)?", "д(?:ень|ня|ней)", "недел[яиюье]|недель", "месяц(?:а|е|ев)?", "квартал(?:а|е|ов)?", "год(?:а|у)?|лет"),
        today="сегодня",
        yesterday="вчера",
        this="эт(?:ой|от|ом|у)",
        last="прошл(?:ой|ый|ом|ую|ого)",
        rolling="последние|последних",
        ago="{n} {unit} назад",
        since="с|со",
        before="до",
        after="после",
        until="по",
        year_in="в|во",
        between="между",
        from_="с",
        and_="и|по|до",
    ),
}  # fmt: skip
