"""``python -m rarefuse``."""

import sys

from rarefuse.cli import main

sys.exit(main())
