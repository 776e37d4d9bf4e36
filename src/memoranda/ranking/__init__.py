"""Which hits come first: pure functions over keys, scores and texts, one for every back end.

`matching` scores all matching items and notes cheaply, from which terms they have; `items` scores the most
promising items precisely, from their text; `ordering` puts both together with what stands around an item.
Importing it loads NumPy, so callers import it where they first search.

Source: `docs/adr/0021`; `docs/explanation/retrieval.md`.
"""
