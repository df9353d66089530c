"""Croissant metadata (version 1.0): files with their checksums, and the columns of tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypercondense.errors import safe
from hypercondense.interchange.problems import need
from hypercondense.version import __version__

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_KINDS = {
    ".parquet": "application/x-parquet",
    ".md": "text/markdown",
    ".json": "application/json",
    ".csv": "text/csv",
}


def croissant(
    name: str, description: str, *, licence: str, sums: Mapping[str, str], tables: Sequence[Path]
) -> dict[str, Any]:
    """The content of croissant.json.

    Args:
        name: Of the data.
        description: One sentence.
        licence: Of the data.
        sums: The SHA-256 of each file, by its name.
        tables: Files of Parquet, whose columns are told.
    """
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": safe(name) or "unnamed",
        "description": description,
        "license": safe(licence),
        "version": "1.0.0",
        "creator": {"@type": "sc:Organization", "name": f"hypercondense {__version__}"},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "contentUrl": file,
                "encodingFormat": _KINDS[Path(file).suffix],
                "sha256": told,
            }
            for file, told in sums.items()
        ],
        "recordSet": [_record_set(table) for table in tables],
    }


def _record_set(table: Path) -> dict[str, Any]:
    schema = need("pyarrow.parquet", "arrow").read_schema(table)
    fields = [_field(table, place, field) for place, field in enumerate(schema)]
    return {"@type": "cr:RecordSet", "@id": table.stem, "name": table.stem, "field": fields}


def _field(table: Path, place: int, field: Any) -> dict[str, Any]:
    """A column; its id is its place, because names may hold anything."""
    types = need("pyarrow.types", "arrow")
    is_list = types.is_list(field.type) or types.is_large_list(field.type)
    kind = field.type.value_type if is_list else field.type
    whole = "sc:Integer" if types.is_integer(kind) else "sc:Text"
    own = {
        "@type": "cr:Field",
        "@id": f"{table.stem}/{place}",
        "name": f"{table.stem}/{safe(field.name)}",
        "dataType": "sc:Float" if types.is_floating(kind) else whole,
        "source": {"fileObject": {"@id": table.name}, "extract": {"column": field.name}},
    }
    return own | ({"repeated": True} if is_list else {})
