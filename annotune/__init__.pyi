from annotune.api import check as check
from annotune.api import compile as compile
from annotune.api import emit as emit
from annotune.api import load_results as load_results
from annotune.api import tune as tune
from annotune.diagnostics import AnnotuneError as AnnotuneError
from annotune.report.views import RunResults as RunResults

__version__: str
