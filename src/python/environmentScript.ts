/**
 * What an interpreter is asked to run. Imports nothing but the standard library: importing Ray takes a second and may
 * start things. Must parse on any Python, so that an old one can say how old it is.
 */
export const probeScript = `
import json, os, sys

found = {
    "python": ".".join(str(part) for part in sys.version_info[:3]),
    "executable": sys.executable,
    "isOrdinary": False,
    "isVirtual": sys.prefix != getattr(sys, "base_prefix", sys.prefix),
    "isManaged": False,
    "isWritable": False,
    "pip": False,
    "ensurepip": False,
    "rayDefault": False,
    "stockLauncher": False,
    "scipy": False,
    "packageFolders": [path for path in sys.path if os.path.isdir(path)],
}


def main():
    import ast
    import importlib.machinery
    import importlib.metadata
    import importlib.util
    import sysconfig

    def is_there(module):
        # Part by part: find_spec("a.b") would import a.
        parts = module.split(".")
        spec = importlib.util.find_spec(parts[0])
        for part in parts[1:]:
            if spec is None:
                return False
            spec = importlib.machinery.PathFinder.find_spec(part, list(spec.submodule_search_locations or []))
        return spec is not None

    def add_version(key, distribution, module):
        try:
            # An editable checkout is found by its own finder, and has its version beside the others.
            version = importlib.metadata.version(distribution) if is_there(module) else None
        except importlib.metadata.PackageNotFoundError:
            return
        if version:
            found[key] = version

    # Ray and others have no packages for a Python without its lock, or for PyPy.
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    found["isOrdinary"] = sys.implementation.name == "cpython" and not is_free_threaded
    # PEP 668: a system's own Python asks installers to keep off. An environment made from it does not.
    marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    found["isManaged"] = not found["isVirtual"] and os.path.exists(marker)
    # Where it may not write, pip silently installs for the user instead, outside the environment.
    found["isWritable"] = os.access(sysconfig.get_path("purelib"), os.W_OK)
    found["pip"] = is_there("pip")
    found["ensurepip"] = is_there("venv") and is_there("ensurepip")
    add_version("ray", "ray", "ray")
    add_version("nemoEvaluator", "nemo-evaluator", "nemo_evaluator")
    add_version("nemoGym", "nemo-gym", "nemo_gym")
    found["stockLauncher"] = is_there("nemo_evaluator.engine.ray_launcher")
    found["scipy"] = is_there("scipy")
    if "ray" not in found:
        return
    # Ray starts its dashboard when everything that this file imports is there.
    (ray,) = importlib.util.find_spec("ray").submodule_search_locations
    needed = {"aiohttp"}
    try:
        with open(os.path.join(ray, "dashboard", "optional_deps.py")) as file:
            tree = ast.parse(file.read())
    except OSError:
        tree = ast.Module(body=[], type_ignores=[])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            needed.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            needed.add(node.module)
    found["rayDefault"] = all(is_there(module) for module in needed)


if sys.version_info >= (3, 9):
    main()
sys.stdout.write("\\n" + json.dumps(found) + "\\n")
`;
