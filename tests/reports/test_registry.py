"""A registry record has what the public registry's form demands.

The form below was written from the registry's template: the members it requires, its
closed vocabularies, and that no object has a member more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from reports.sample_releases import broad_plan, make_case, small_plan

from dpql.model.plan import Plan
from dpql.reports.registry import registry_record
from dpql.reports.view import unverified_view

TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **optional},
    }


FORM = _object(
    {
        "url_slug": {"type": "string", "pattern": "^[a-z0-9-]+$"},
        "deployment": _object(
            {
                "basic": _object(
                    {
                        "name": TEXT,
                        "data_curators": {
                            "type": "array",
                            "minItems": 1,
                            "items": _object(
                                {"data_curator_name": TEXT, "data_curator_type": TEXT}
                            ),
                        },
                        "description": TEXT,
                        "intended_use": TEXT,
                        "data_product_type": {
                            "enum": [
                                "Summary statistics",
                                "Machine learning model",
                                "Dataset",
                                "Synthetic data",
                            ]
                        },
                        "data_product_region": TEXT,
                        "data_product_sector": TEXT,
                        "publication_date": {"type": "string", "format": "date"},
                    }
                ),
                "dp_variant": _object(
                    {
                        "variant_name": {"enum": ["Pure DP", "Approximate DP"]},
                        "data_domain": TEXT,
                        "unprotected_quantities": TEXT,
                    }
                ),
                "privacy_loss": _object(
                    {
                        "privacy_unit": TEXT,
                        "privacy_parameters": _object(
                            {"epsilon": {"type": "number", "exclusiveMinimum": 0}}
                        ),
                    },
                    privacy_unit_details=TEXT,
                    privacy_parameters_details=TEXT,
                ),
                "deployment_model": _object(
                    {
                        "model_name": {"enum": ["Local", "Central", "Shuffle"]},
                        "release_type": {"enum": ["One release", "Many releases"]},
                        "data_source_type": {"enum": ["Static", "Dynamic"]},
                        "access_type": {"enum": ["Interactive", "Non-interactive"]},
                    },
                    model_name_details=TEXT,
                    release_type_details=TEXT,
                ),
                "implementation": _object(
                    {
                        "preprocessing_and_hyperparameter_tuning": TEXT,
                        "mechanisms": TEXT,
                        "composition": TEXT,
                        "post_processing": TEXT,
                        "justification": TEXT,
                    }
                ),
                "administrative": _object(
                    {
                        "status": {"enum": ["Draft", "Pending", "Approved"]},
                        "registry_authors": {
                            "type": "array",
                            "minItems": 1,
                            "items": TEXT,
                        },
                        "tier": {"enum": [1, 2, 3]},
                        "evidence_sources": {"type": "object"},
                    }
                ),
            }
        ),
    }
)


@pytest.mark.parametrize("plan", [small_plan(), broad_plan()])
def test_record_fits_the_form(plan: Plan) -> None:
    """Every demanded member is there, and none that the form does not know."""
    predicate = unverified_view(make_case(plan).envelope, "").predicate
    record = registry_record(predicate, curator="Statistics Office")
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(FORM, format_checker=checker)
    assert list(validator.iter_errors(record)) == []
    epsilon = record["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"]
    assert Fraction(epsilon) >= predicate.guarantee.epsilon
    assert record["url_slug"] == "test-statistics-office"


def test_form_can_refuse() -> None:
    """A record without a date, or with a member more, does not fit."""
    predicate = unverified_view(make_case().envelope, "").predicate
    record = registry_record(predicate, curator="Statistics Office")
    record["surprise"] = 1
    del record["deployment"]["basic"]["publication_date"]
    assert len(list(jsonschema.Draft202012Validator(FORM).iter_errors(record))) == 2
