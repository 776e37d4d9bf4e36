"""What a calibration asks: queries that fit nothing, and queries for a text that is there. Pure.

`off_topic` are queries that most projects say nothing about: questions of many trades, words that do not
belong together, other languages, and letters that are no words. `LONG` are questions as well, three times
as long. `query_for` makes a query of a text.
`PAIRS` are small notes of our own, each with a question that it answers in other words: what stands in for
the texts of a project that has few.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from memoranda.text.analysis import written_words
from memoranda.text.stopwords import stop_words

_GIBBERISH = 8
_SEED = 20_240_229
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_VOWELS = "aeiou"
_ROW = 8
_FEW = 4
_SHORT = 3

QUESTIONS = (
    "Which spices belong in a Moroccan lamb stew?",
    "What is the best time of year to prune apple trees?",
    "How do I get red wine stains out of a carpet?",
    "Who composed the opera about the barber of Seville?",
    "How far is Saturn from the sun?",
    "Why do cats purr when they sleep?",
    "Which muscles does a deadlift train?",
    "What are the side effects of ibuprofen?",
    "How is the offside rule applied in football?",
    "How do I change the oil filter of a motorcycle?",
    "Which countries border Kazakhstan?",
    "When is the deadline for filing a tax return?",
    "How do earthquakes start at plate boundaries?",
    "How does a vaccine train the immune system?",
    "How does a transistor amplify a signal?",
    "Why does the linker report an undefined symbol?",
    "What does the eigenvalue of a matrix mean?",
    "What is the plot of Wuthering Heights?",
    "How many strings does a baroque lute have?",
    "Which camera lens suits portrait photography?",
    "How do I knit a cable pattern on round needles?",
    "How thick must roof insulation be in an attic?",
    "Which visa do I need for a trip to Vietnam?",
    "What did the king do after the battle of Hastings?",
    "What are the duties of a notary?",
    "Which chess opening begins with the queen's pawn?",
    "What does Kant mean by the categorical imperative?",
    "How do bees find their way back to the hive?",
    "How do I teach a toddler to sleep through the night?",
    "Which fabrics are suitable for a rain jacket?",
    "How is gold separated from ore?",
    "How do I renew an expired passport?",
)
"""Questions of some eight words that most projects say nothing about."""

LONG = (
    "What should a beginner keep in mind about the temperature of the wax and the thickness of the wick "
    "when pouring scented candles at home for the first time?",
    "How do the feeding habits of sea otters influence the growth of kelp forests along the Pacific coast, "
    "and what happens to the sea urchins when the otters disappear?",
    "Which documents does a family have to present to the registry office when a child was born abroad "
    "and one of the parents holds two different citizenships?",
    "According to the rules of the tournament, what happens if two teams have the same number of points "
    "and goals after the last match of the group stage?",
    "What are the main differences between watercolour and acrylic paint with regard to drying time, "
    "opacity and the kind of paper or canvas that a painter should use?",
    "How does the speed of light in glass compare with that in a vacuum, and why does a prism therefore "
    "split sunlight into the colours of the rainbow?",
    "When restoring an old wooden rowing boat, in which order should one strip the varnish, replace the "
    "broken ribs, caulk the seams and paint the hull?",
    "Why did the price of grain rise so sharply in the years before the French Revolution, and how did "
    "the peasants and the citizens of Paris react to it?",
)
"""Questions of some 25 words that fit nothing."""

_LOOSE_WORDS = (
    "banana violin gravel",
    "lantern mustard thursday",
    "copper ostrich pillow",
    "velvet hammer onion parade",
)
_OTHER_LANGUAGES = (
    "Wie lange muss der Teig im Kühlschrank ruhen?",
    "¿Cuánto cuesta arreglar una bicicleta vieja?",
    "今天的天气怎么样",
    "Где купить билеты на поезд?",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A small note as it would be embedded, and a question that it answers in other words."""

    text: str
    question: str


PAIRS = (
    Pair(
        "Coastal sailing\nReef the main before the wind reaches five, wear a life jacket on deck and tell "
        "the harbour when you leave.",
        "safety rules on a boat",
    ),
    Pair(
        "Backup plan\nThe database is copied to the second server every night at two and kept for "
        "thirty days.",
        "how long do we keep copies of our data",
    ),
    Pair(
        "Tomato soup\nRoast the tomatoes with garlic and olive oil, add stock, simmer for half an hour "
        "and blend until smooth.",
        "recipe for a vegetarian starter",
    ),
    Pair(
        "Trip to Lisbon\nWe land on Friday evening, stay near the river and take the tram up to the "
        "castle on Saturday.",
        "our holiday in Portugal",
    ),
    Pair(
        "Hiring\nEvery candidate talks to two engineers and one manager; we decide within a week and "
        "always give feedback.",
        "how do job interviews work here",
    ),
    Pair(
        "Back pain\nThe physiotherapist showed me three stretches for the lower spine, to be done each "
        "morning before breakfast.",
        "exercises that help with a sore body",
    ),
    Pair(
        "Login by token\nThe service issues a signed token that expires after one hour; clients "
        "refresh it before each call.",
        "how does authentication work",
    ),
    Pair(
        "Garden\nPlant the beans in May after the last frost, water them in the evening and feed them "
        "every second week.",
        "when should vegetables be sown",
    ),
    Pair(
        "Budget\nRent takes a third of our income, groceries a fifth, and we put ten percent into "
        "savings.",
        "how much money is left each month",
    ),
    Pair(
        "Thermodynamics\nEntropy of a closed system never falls; heat flows from the warmer body to "
        "the colder one.",
        "second law of physics about temperature",
    ),
    Pair(
        "Piano practice\nPlay scales slowly with a metronome, then the left hand of the sonata alone, "
        "then both hands.",
        "tips for rehearsing a musical instrument",
    ),
    Pair(
        "Peace of Westphalia\nThe treaties of 1648 ended thirty years of war in central Europe and "
        "settled the borders.",
        "end of the religious conflict in Germany",
    ),
)


def off_topic() -> tuple[str, ...]:
    """Short queries that fit nothing, the questions first; the same ones every time."""
    return (*QUESTIONS, *_LOOSE_WORDS, *_OTHER_LANGUAGES, *_gibberish())


def query_for(text: str, number: int) -> str:
    """What somebody might type who looks for this text: of every second one a row of words, else a few.

    `text` is a chunk's: the first of several lines says where it stands, and is left out.
    """
    place, _, body = text.partition("\n")
    words = written_words(body) or written_words(place)
    if number % 2:
        start = len(words) // 3
        return " ".join(words[start : start + _ROW])
    dull = stop_words()
    told = list(dict.fromkeys(one for one in words if len(one) > _SHORT and one not in dull))
    return " ".join(told[:: max(1, len(told) // _FEW)][:_FEW] or words[:_ROW])


def _gibberish() -> tuple[str, ...]:
    draw = random.Random(_SEED)  # noqa: S311 - the same letters every time, not a secret
    return tuple(
        " ".join(_no_word(draw) for _ in range(draw.randint(1, 4))) for _ in range(_GIBBERISH)
    )


def _no_word(draw: random.Random) -> str:
    return "".join(
        draw.choice(_VOWELS if place % 2 and draw.random() < 0.7 else _CONSONANTS)
        for place in range(draw.randint(4, 9))
    )
