/**
 * What an interpreter is asked to run. Imports nothing but the standard library: importing Ray takes a second and may
 * start things. Must parse on any Python, so that an old one can say how old it is.
 */
export const probeScript = `
import json, os, sys

found = {
    "python": ".".join(str(part) for part in sys.version_info[:3]),
    "executable": sys.executable,
    "rayDefault": False,
    "scipy": False,
    "packageFolders": [path for path in sys.path if os.path.isdir(path)],
}


def main():
    import ast
    import importlib.machinery
    import importlib.metadata
    import importlib.util

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
            if is_there(module):
                found[key] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            pass

    add_version("ray", "ray", "ray")
    add_version("nemoEvaluator", "nemo-evaluator", "nemo_evaluator")
    add_version("nemoGym", "nemo-gym", "nemo_gym")
    found["scipy"] = is_there("scipy")
    if "ray" not in found:
        return
    # Ray starts its dashboard when everything that this file imports is there.
    (ray,) = importlib.util.find_spec("ray").submodule_search_locations
    with open(os.path.join(ray, "dashboard", "optional_deps.py")) as file:
        tree = ast.parse(file.read())
    needed = set()
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
