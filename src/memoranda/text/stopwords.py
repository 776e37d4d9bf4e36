"""Words too common to search for on their own, per language. Pure.

The English list holds the spec's stop words, and every list the words questions are asked with (who,
what, when, did, ...): without them a question in plain words finds what it is about. A query of stop words
alone keeps them.

Source: spec 5.2.
"""

from __future__ import annotations

from functools import lru_cache

from memoranda.text.analysis import ENGLISH, Languages, normalized, token

_WORDS = {
    "english": """
a about again all also am an and any are aren as at be because been before being between both but by
can cannot could couldn d did didn do does doesn doing don down during each else ever few for from
further get gets getting got had hadn has hasn have haven having he her here hers herself him himself
his how i if in into is isn it its itself just let ll m me more most much must my myself no nor not
now of off on once only or other our ours ourselves out over own please re s same shall she should
shouldn so some such t tell than that the their theirs them themselves then there these they this
those through to too under until up upon us ve very was wasn we were weren what whatever when where
whether which while who whom whose why will with within without won would wouldn you your yours
yourself yourselves
""",
    "german": """
aber alle allem allen aller als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine
dem den der des dessen die dies diese diesem diesen dieser dieses dir du durch ein eine einem einen einer eines
er es euch für gab gibt habe haben hat hatte hatten hier ich ihm ihn ihr ihre im in ins ist ja jede kann können
man mein meine mich mir mit muss nach nicht noch nun nur ob oder ohne sehr seid sein seine sich sie sind so
soll um und uns unser unter vom von vor war waren warum was wann wegen weil welche welcher welches wem wen
wenn wer werden wessen wie wieso wir wird wo woher wohin wurde wurden zu zum zur zwischen über
""",
    "french": """
a ai as au aux avec avez avons c ce ceci cela ces cet cette chez combien comme comment d dans de des du elle
elles en est et eu eux fait il ils j je jusqu l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre
nous on ont ou où par pas pendant peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa
sans se sera ses si sien soit son sont sous sur t ta te tes toi ton tu un une vos votre vous y à était étaient
été être
""",
    "spanish": """
a al algo antes aquí aun como con cual cuales cuando cuánto cuántos cuál cuáles cuándo cómo de del desde donde
dónde durante e el ella ellas ellos en entre era eran es esa ese eso esta estaba este esto está están fue fueron
ha hace han hasta hay he la las le les lo los me mi mis muy más ni no nos nosotros o os para pero por porque que
quien quién quiénes qué se sea ser si sin sobre son su sus sí también te tiene tienen tu tus un una uno unos y ya
yo él
""",
    "italian": """
a ad ai al alla alle agli allo anche c che chi ci come con cosa cui d da dai dal dalla dalle dall dei degli del
della delle dello dell di dove e ed era erano fu furono gli ha hai hanno ho i il in io l la le lei li lo loro lui
ma mi mia mie mio miei ne nei nel nella nelle nell nello noi non nostro o per perché perche più qual quale quali
quando quanti quanto quella quello questa queste questi questo se sei si sia siamo sono sta stato su sua sue sui
sul sulla sull suo suoi ti tra tu tua tuo un una uno vi voi è
""",
    "portuguese": """
a ao aos as com como da das de dela dele deles depois do dos e ela elas ele eles em entre era eram essa esse esta
estava este estes está estão eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na nas nem no nos
nossa nosso não nós o onde os ou para pela pelas pelo pelos per por porque porquê qual quais quando quanto
quantos que quem quê se sem ser seu seus sua suas são só também te tem tinha têm um uma umas uns você vocês à às é
""",
    "dutch": """
aan al alle als bij ben bent dan dat de deze die dit doen door dus een en er geen had hadden heb hebben heeft hem
het hij hoe hoeveel hun ik in is ja je jij jou jouw jullie kan kunnen maar me met mij mijn moet na naar niet nog
nu of om omdat ons onze ook op over te tegen toch toen tot uit u uw van veel voor waar waarom wanneer want waren
was wat we welk welke wel werd werden wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
""",
    "swedish": """
alla allt att av blev bli blir då de dem den denna deras dess dessa det detta dig din dina ditt du där efter ej
eller en er ett från för ha hade han hans har hennes hon honom hur här i icke inte jag ju kan kunde man med mellan
men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina sitt ska
skulle som så till under upp ut utan vad var varför vara varit varje vem vems vi vid vilka vilken vilket vår våra
är åt över
""",
    "russian": """
а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее ей ему если
есть еще же за и из или им их к как какая какие какой каком когда кого кому кто куда ли мне можно мой моя мы на
над нам нас не него нее ней нет ни них но ну о об один он она они оно от откуда по под почему при про с свой себя
сколько со так также там тебя тем то того тоже только том тот ты у уже чего чей чем что чтобы эта эти это этого
этой этом этот я
""",
}

_ELISIONS = {
    "french": "c d j jusqu l lorsqu m n puisqu qu s t",
    "italian": "all c coll d dall dell l nell quell quest sull un",
    "catalan": "d l m n s t",
}
"""What is written with an apostrophe before a word."""


@lru_cache(maxsize=16)
def stop_words(languages: Languages = ENGLISH) -> frozenset[str]:
    """The stop words of all these languages, as the index writes words; a language without a list adds none."""
    return frozenset(
        token(normalized(word))
        for language in languages
        for word in _WORDS.get(language, "").split()
    )


@lru_cache(maxsize=16)
def elisions(languages: Languages) -> frozenset[str]:
    """The short words that these languages write before another one with an apostrophe."""
    return frozenset(word for language in languages for word in _ELISIONS.get(language, "").split())
