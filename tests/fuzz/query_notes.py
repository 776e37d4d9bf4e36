"""A small folder of notes in many scripts, which queries are fuzzed against."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

_WRITTEN: Final = {
    "work/Warehouse node.md": """---
title: Warehouse node
type: decision
tags: [ops, ops/move, Größe]
status: active
priority: 3
owner: {name: Ada, since: 2025-03-01}
created: 2025-03-04
---
# Warehouse node

We decided to move the warehouse node to Berlin on 2025-03-14, after the review.

## Why

- [decision] Move the node before the audit #ops/move (agreed with the team) ^d1
- [fact] The old pump_house runs C++17 and .NET 8.0.1 behind nginx/1.25 #ops
- part_of [[Projects]]
- documented in [[src/app/main.py]]
""",
    "work/code snippets.md": """---
tags: c++, .net, "100%"
version: 1.10
---
# C++ and C#

`std::vector<int> a[3];` and `SELECT_ALL * FROM_NOTES` are words; so are `a_b`, `x->y`, `node-js`, `~/.config`.
Mail kim@example.org, see https://example.com/a?b=c&d=%20 or src/app/main.py:42. F# is not G♯. 50% of 1_000.

## Signs * and "quotes"

It said "near (the end)" and 'no'. NEAR is a word, AND so is OR, NOT this -one. tag: none. a:b:c ^top {x}
- [tip] Escape \\\\ and % and _ and [brackets] with care
""",
    "日本/東京出張.md": """---
title: 東京出張
tags: [旅行, 出張/東京]
status: 完了
---
# 東京出張

十一月に東京へ出張しました。カンファレンスで機械学習の発表を聞いた。ｶﾀｶﾅとカタカナ。

## 会議録

- [決定] 来年も東京に行く #旅行
- 参加者 [[山田さん]]
""",
    "中文/知识图谱.md": """---
tags: 知识
---
# 知识图谱

我们决定把仓库节点迁移到上海。记忆系统使用全文检索。龍馬𠮷野家。
- [事实] 检索必须找到每一个词 #知识/检索
""",
    "한국/회의록.md": "# 회의록\n\n데이터베이스 이전을 결정했다. 다음 주에 다시 만나요.\n- [결정] 서버를 옮긴다 #회의\n",
    "ru/Война и мир.md": """---
tags: [чтение, Ёлка]
---
# Война и мир

Все счастливые семьи похожи друг на друга. Ёлка стоит в доме. Решили перенести склад в марте 2025 года.
- [цитата] Мир по-русски пишется одинаково #чтение
""",
    "el/Ελληνικά.md": "# Ελληνική γλώσσα\n\nΟ Οδυσσέας άργησε να φτάσει. ΟΔΥΣΣΕΑΣ, οδός, Σίσυφος.\n- [φράση] καλημέρα κόσμε #λόγος\n",
    "ar/مضخة.md": "# المضخة\n\nقررنا نقل المُضَخَّة إلى المستودع القديم. كتاب‌ها ۱۲۳ ١٢٣\n- [قرار] النقل في مارس #عمل\n",
    "he/שלום.md": "# שָׁלוֹם\n\nשלום עולם, החלטנו להעביר את המחסן. צה״ל ר' יוסי\n- [החלטה] במרץ #עבודה\n",
    "hi/हिन्दी.md": "# हिन्दी नोट\n\nहमने गोदाम को बर्लिन ले जाने का निर्णय लिया। क्षत्रिय ज्ञान\n- [तथ्य] काम पूरा #काम\n",
    "th/ไทย.md": "# ภาษาไทย\n\nเราตัดสินใจย้ายคลังสินค้าไปเบอร์ลิน น้ำดื่ม ผู้ใหญ่\n- [ข้อเท็จจริง] ทำงานเสร็จแล้ว #งาน\n",
    "vi/Tiếng Việt.md": "# Tiếng Việt\n\nChúng tôi quyết định chuyển kho đến Hà Nội. Đường phố, nghỉ ngơi.\n",
    "tr/Çok güzel.md": "# Çok güzel\n\nIğdır'da İstanbul'a taşındık. ILIK ılık İLK ilk.\n",
    "pl/Zażółć.md": "---\naliases: [Gęślą jaźń]\n---\n# Zażółć gęślą jaźń\n\nŁódź i Kraków, żółw. Straße, Œuvre, ﬁn, Å, Ⅷ, ①.\n",
    "emoji.md": "# Rocket 🚀\n\n👩‍🚀 flies a 🚀 to the 🌕. 👍🏽 ❤️ 🇩🇪 #🚀\n- [mood] 🙂 good #😀\n",
    "marks.md": "# Cafe\u0301 and café\n\nZa\u0300lgo\u0301\u0302\u0303\u0304 te\u0316xt. \u202eRTL override\u202c soft\u00adhyphen zero\u200bwidth \ufeffmark. fi\u0301n\n",
    "numbers.md": "---\npriority: 10\ndue: 2025-03-31\nscores: [1, 2.0, 007]\n---\n# 1.10.2\n\nv2.0.1-rc1, 3,14 and 3.14; 2025-03-14T10:00:00Z; 0xFF; +49 170 1234567; 10:30.\n",
    "empty.md": "",
    "only header.md": "---\ntitle: Only a header\ntags: [ops]\n---\n",
    "broken.md": "---\ntitle: [open\ntags: x\n---\n# Broken header\n\nThe node is here as well.\n",
    "long line.md": "# Long line\n\n" + "pump valve " * 400 + "needle " + "pump " * 100 + "\n",
    "100% [odd] name_x*.md": "# Odd % name_x\n\nA note whose name has _ and % and [brackets] and a *.\n",
}  # fmt: skip
_WORDS: Final = str.split(
    "pump valve node warehouse review team decided moved running runs cities city naïve über café 東京 "
    "検索 склад решили مضخة plan index and the of was not in march"
)


def notes() -> Mapping[str, str]:
    """Text by path; always the same. Most share few words, so that a word has more hits than are ranked by text."""
    choose = random.Random("query-notes")

    def words(count: int) -> str:
        return " ".join(choose.choices(_WORDS, k=count))

    generated = {
        f"gen/{number % 3}/{words(2)} {number}.md": (
            f"---\ntype: {choose.choice(['note', 'meeting', 'Person'])}\n"
            f"tags: [{choose.choice(['ops', 'ops/move', 'draft', 'a/b/c'])}]\npriority: {number % 5}\n---\n"
            f"# {words(2).title()}\n\n{words(20)}.\n\n## {words(2)}\n\n{words(30)}.\n\n"
            f"- [fact] {words(6)} #draft\n- [idea] {words(4)}\n- follows [[{words(2)}]]\n"
        )
        for number in range(110)
    }
    return _WRITTEN | generated
