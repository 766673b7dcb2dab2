from poise import decisions as decisions
from poise import errors as errors
from poise import research as research
from poise import theory as theory
from poise.algorithms import networks as networks
from poise.algorithms.jax_algorithm import jax_algorithm as jax_algorithm
from poise.algorithms.losses import loss_change as loss_change
from poise.data.read import read_table as read_table
from poise.questions.advise import advise as advise
from poise.questions.ask import assert_stable as assert_stable
from poise.questions.ask import measure as measure
from poise.questions.ask import stability_test as stability_test
from poise.questions.deployed import deployed_test as deployed_test
from poise.questions.deployed import measure_deployed as measure_deployed
from poise.questions.intervals import JackknifeRegressor as JackknifeRegressor
from poise.questions.plan import plan as plan
from poise.questions.several import compare as compare
from poise.questions.several import stability_curve as stability_curve
from poise.questions.verify import verify as verify
from poise.results.file import load as load
from poise.results.report import report as report
from poise.results.result import Result as Result
from poise.results.table import table as table
from poise.results.together import Comparison as Comparison
from poise.results.together import Curve as Curve
from poise.results.trials import Trials as Trials

__version__: str
