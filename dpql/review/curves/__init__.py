"""The page of `dpql plan --html`: error against epsilon, with sliders, offline."""

from dpql.review.curves.page import page

__all__ = ["page"]
