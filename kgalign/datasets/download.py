"""Benchmarks from the repositories of their authors. Each file is checked against its SHA-256."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from kgalign.errors import DataError, OptionError

LIGHTEA = "https://raw.githubusercontent.com/MaoXinn/LightEA/dd8e2a3304c1da6c09c31a512bd455d6c24b1417"
TEST_LINKS = 10_500  # so many links at the beginning of ref_ent_ids are the canonical test links, all others the seeds
DBP15K = {
    "EA_datasets/DBP_FR_EN/ent_ids_1": "8c5c96ba6ef3b3a7791f2ee33e0a779049e4fee36aac77c813814964a23b4401",
    "EA_datasets/DBP_FR_EN/ent_ids_2": "9e14e2ae75c45d18fc1fd310657dfd2b84925e625ceb89f96b7775f6218e042c",
    "EA_datasets/DBP_FR_EN/ref_ent_ids": "ba1c4b07e67ab2581d6ca11038e9f527b08666fe5bedad3a95cb7f61579a3c64",
    "EA_datasets/DBP_FR_EN/triples_1": "318c50b356055ccfdbb98d6733ecb8213b3f0ee8f2222cd9733e2d6ef04f5718",
    "EA_datasets/DBP_FR_EN/triples_2": "38508926b2e93dae9bb9b066e308cbb11545e62fa93239b574b53f496aeb2f1c",
    "EA_datasets/DBP_JA_EN/ent_ids_1": "c0163c3e4d1a1173fde4941c6c3752e659ff54c50149fbe8776e10c78077f1ad",
    "EA_datasets/DBP_JA_EN/ent_ids_2": "b6e8aa468861daa932f5bbb50c4743273418331839543de8889b13cc267a84a2",
    "EA_datasets/DBP_JA_EN/ref_ent_ids": "60edbd1d05d65e80cc81957eb6efa06fa53901a2a3042cfb0a115abccb2dff91",
    "EA_datasets/DBP_JA_EN/triples_1": "5c9396f4bc18f62f395bdea897228285be85f3590d89c336739877d7fc0eeae5",
    "EA_datasets/DBP_JA_EN/triples_2": "aeb66ed5e3dd1588f4d7e2cae50bc930794dbc29063f71365242c924ae27c2d6",
    "EA_datasets/DBP_ZH_EN/ent_ids_1": "6d230db7922b58f6fe31fb75b478d5edcbb3cc7d3f76763b5af8232ff1940082",
    "EA_datasets/DBP_ZH_EN/ent_ids_2": "68d7cccc5334881d386094df3e4f9af479eedf3161ed00ec4d06e0685d510f69",
    "EA_datasets/DBP_ZH_EN/ref_ent_ids": "f6fc5f4b4c162eb21119697561b38686c48935222c11d07f08edc6efc5414507",
    "EA_datasets/DBP_ZH_EN/triples_1": "5bd1df6af7b51a0bc1111809c980364455e42f2cc27946cd664861f0d95aafcb",
    "EA_datasets/DBP_ZH_EN/triples_2": "bbab07e5d97247221d742a7ab4e14c20ffdb3125667b2bac2b317a714a07bc48",
    "translated_ent_name/dbp_fr_en.json": "9a76ccc43353f9e8e27c214d6fef401de866dbda751d39c176470adc5cce35c0",
    "translated_ent_name/dbp_ja_en.json": "d5b6501885f5184d25bd0ebcab6e689cd295c8ac8efd1c7aef113ba56c72428e",
    "translated_ent_name/dbp_zh_en.json": "d187deebecf6406527b3a15757e93a782ec7de25e05872e54c1e59d1949424fd",
}


def download_dbp15k(
    folder: Path,
    *,
    base_url: str = LIGHTEA,
    files: Mapping[str, str] = DBP15K,
    on_file: Callable[[str], None] | None = None,
) -> Path:
    """The folder with DBP15K in its subfolders zh_en, ja_en and fr_en: translated names and the canonical split.

    The folder is written whole or not at all.

    Args:
        folder: A folder that does not exist yet.
        base_url: The address of the files.
        files: The SHA-256 of each file.
        on_file: Called with the name of each file before it is fetched.
    """
    if folder.exists():
        raise OptionError(f"{folder}: exists already; give a folder that does not")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as draft:
        fetched, arranged = Path(draft, "fetched"), Path(draft, "arranged")
        for name, checksum in files.items():
            if on_file:
                on_file(name)
            fetch(f"{base_url}/{name}", checksum, fetched / name)
        for names in sorted(fetched.glob("translated_ent_name/*.json")):
            pair = names.stem.removeprefix("dbp_")
            _arrange(fetched / "EA_datasets" / f"DBP_{pair.upper()}", names, arranged / pair)
        shutil.move(arranged, folder)
    return folder


def fetch(url: str, checksum: str, path: Path) -> None:
    """Stores the file of a URL, if it has the expected SHA-256."""
    import urllib.request  # slow to import, and nothing else needs it

    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            content = answer.read()
    except (OSError, ValueError) as error:
        raise DataError(f"{url}: could not be fetched ({error}); check the connection and try again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise DataError(f"{url}: expected a file with SHA-256 {checksum}, found {found}; the file is broken or was changed")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _arrange(fetched: Path, names: Path, folder: Path) -> None:
    """Writes the files of one pair as `kgalign.read` expects them: seeds and test links apart, and a name for each entity."""
    folder.mkdir(parents=True)
    for name in ("ent_ids_1", "ent_ids_2", "triples_1", "triples_2"):
        shutil.copy(fetched / name, folder / name)
    links = [line for line in (fetched / "ref_ent_ids").read_text("utf-8").split("\n") if line]
    _write_lines(folder / "ref_ent_ids", links[:TEST_LINKS])
    _write_lines(folder / "sup_ent_ids", links[TEST_LINKS:])
    words = {str(identifier): " ".join(tokens) for identifier, tokens in json.loads(names.read_text("utf-8"))}
    for side in (1, 2):
        lines = (folder / f"ent_ids_{side}").read_text("utf-8").split("\n")
        identifiers = [line.split("\t")[0] for line in lines if line]
        named = [f"{identifier}\t{words[identifier]}" for identifier in identifiers if identifier in words]
        _write_lines(folder / f"names_{side}", named)


def _write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
