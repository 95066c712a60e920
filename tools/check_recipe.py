"""Render packaging/conda/recipe.yaml by rattler-build for each platform; compare what it requires with pyproject.toml.

python tools/check_recipe.py
"""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64", "win-arm64")
# What conda-forge sets for every package, as far as a recipe of C++ and Python asks for it.
VARIANTS = 'python: ["3.12.* *_cpython"]\ncxx_compiler: [gxx]\nc_stdlib: [sysroot]\n'
NAMES = {"matplotlib": "matplotlib-base"}  # of packages that conda-forge calls otherwise
OF_CONTRIBUTORS = ("test", "lint", "docs", "release", "all")


def conda_name(requirement: str) -> str:
    """A requirement of pip as conda writes it.

    >>> conda_name("matplotlib>=3.8")
    'matplotlib-base >=3.8'
    """
    wanted = Requirement(requirement)
    bounds = ",".join(sorted((str(each) for each in wanted.specifier), reverse=True))
    return f"{NAMES.get(wanted.name, wanted.name)} {bounds}".strip()


def rendered(platform: str) -> tuple[str, dict[str, list[str]]]:
    """The version, and what is required for what, on a platform."""
    where = PlatformConfig(target_platform=platform, host_platform=platform, build_platform="linux-64")
    recipe = Stage0Recipe.from_yaml(RECIPE.read_text(encoding="utf-8"))
    (only,) = recipe.render(VariantConfig.from_yaml(VARIANTS), RenderConfig(platform=where))
    return only.recipe.package.version, only.recipe.requirements.to_dict()


def problems(platform: str) -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = settings["project"], settings["project"]["optional-dependencies"]
    version, required = rendered(platform)
    expected = {
        "run": {"python", *map(conda_name, project["dependencies"])},
        "run_constraints": {
            conda_name(each) for extra in set(extras) - set(OF_CONTRIBUTORS) for each in extras[extra]
        },
        "host": {"python", "pip", *map(conda_name, settings["build-system"]["requires"])},
    }
    found = (
        []
        if str(version) == project["version"]
        else [f"The recipe is of version {version}, pyproject.toml {project['version']}."]
    )
    for part, wanted in expected.items():
        found += [
            f"{platform}, {part}: {each}, in one of recipe and pyproject.toml only."
            for each in wanted ^ set(required[part])
        ]
    return found


if __name__ == "__main__":
    if found := [each for platform in PLATFORMS for each in problems(platform)]:
        raise SystemExit("\n".join(found))
    print(f"ok -- the recipe renders for {', '.join(PLATFORMS)}")
