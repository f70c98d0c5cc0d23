"""Specs drawn at random, as a person might write them: each must compile to a file that agrees with
golden, or be refused with a clean diagnostic.

`strategies` draws, `trial` judges one text, `campaign` judges many and shrinks what fails, `matrix`
covers all pairs of a declared table of features. Run it as `python -m specc.verify.random_specs`.
"""
