"""Builds words.json out of two packages under the MIT licence (pip install faker mnemonic).

Only needed to build the list anew: words.json is already here.
"""

from __future__ import annotations

import json
from pathlib import Path

import mnemonic
from faker.providers.address.en_US import Provider as Address
from faker.providers.currency import Provider as Currency
from faker.providers.job.en_US import Provider as Job
from faker.providers.lorem.en_US import Provider as Lorem
from faker.providers.person.en_US import Provider as Person

lists = {
    "words": sorted(
        set(mnemonic.Mnemonic("english").wordlist)
        | {word for word in Lorem.word_list if word.isalpha() and word.islower()}
    ),
    "first": sorted(set(Person.first_names)),
    "last": sorted(set(Person.last_names)),
    "jobs": sorted({job.split(",")[0].split("/")[0] for job in Job.jobs}),
    "countries": sorted({name.split("(")[0].strip() for name in Address.countries if len(name) < 26}),
    "streets": sorted(Address.street_suffixes)[:225:4],
    "currencies": sorted({currency[0] for currency in Currency.currencies}),
}
path = Path(__file__).resolve().with_name("words.json")
path.write_text(json.dumps(lists, ensure_ascii=True, separators=(",", ":")), "utf-8")
print({name: len(words) for name, words in lists.items()})
