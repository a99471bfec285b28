"""Published tables without a replica identity, as rows of `setting` hold them.

The name is `database.schema.table`, the value the publications with what they publish: `shop: UPDATE and DELETE`.
"""

from typing import Final

COMPONENT: Final = "pg_publication_tables"
