"""Who may include whom: tables of folders and of libraries' headers, what a test can link, headers of one folder."""
import pathlib
import re

from rules.source import within

_INTERNAL = re.compile(r'Internal to (this folder|[\w/]*\w)')
_GENERATED = re.compile(r'Tbem(?:Lexer|Parser)\w*\.h')


class Folders:
    """The table `may_use`: a folder may use what it names, and what these may use; `*` is everything."""

    def __init__(self, may_use):
        self.may_use = may_use

    def of(self, path):
        """The longest row of the table that holds this path, or None."""
        parts = pathlib.PurePosixPath(path).parts
        rows = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((row for row in rows if row in self.may_use), None)

    def used_by(self, folder):
        seen, todo = set(), [folder]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo.extend(name for name in self.may_use.get(current, []) if name != "*")
        return seen


def check_folders(tree, may_use, libraries):
    errors, folders = [], Folders(may_use)
    for path in tree.code("compiler", "runtime", "tools"):
        folder = folders.of(path)
        if folder is None:
            errors.append(f"{path}:1: its folder has no row in tools/check_includes: add one that says what it may use")
            continue
        uses, free = folders.used_by(folder), may_use[folder] == ["*"]
        for line, _, name in tree.includes(path):
            for pattern, owners in libraries.items():
                if re.search(pattern, name) and not any(within(folder, owner) for owner in owners):
                    errors.append(f"{path}:{line}: {folder} may not include <{name}>: "
                                  f"use it through {' or '.join(owners)}")
            full = "runtime/include/" + name if name.startswith("tbem/") else name
            target = folders.of(full) if full.startswith(("compiler/", "runtime/")) else None
            if target and target not in uses and not free:
                errors.append(f"{path}:{line}: {folder} may not use {target}: see its row in tools/check_includes")
    return errors


def target_of(tree, path, name):
    """The file of the tree that an include in quotes is; None where there is none."""
    near = str(pathlib.PurePosixPath(path).parent / name)
    return next((place for place in (near, name, "runtime/include/" + name) if place in tree.known), None)


def check_existing(tree):
    """What the compiler sees of libraries, of tests and benchmarks only where they are built."""
    return [f"{path}:{line}: there is no file `{name}`: include one that exists"
            for path in tree.code("compiler", "runtime", "tools", "test") for line, quoted, name in tree.includes(path)
            if quoted and not _GENERATED.fullmatch(name) and target_of(tree, path, name) is None]


def check_internal(tree):
    """A header whose comment says `Internal to this folder`, or to a named one, is included there and in tests."""
    errors, owner = [], {}
    for path in tree.code("compiler", "runtime"):
        said = _INTERNAL.search(tree.split(path)[1]) if path.endswith(".h") else None
        if said:
            owner[path] = str(pathlib.PurePosixPath(path).parent) if said[1] == "this folder" else said[1]
    for path in tree.code("compiler", "runtime", "tools"):
        for line, _, name in tree.includes(path):
            if name in owner and not within(path, owner[name]):
                errors.append(f"{path}:{line}: {name} is internal to {owner[name]}: "
                              "use a public header, or mend its comment")
    return errors


class Libraries:
    """The libraries of CMakeLists.txt: the folders of each, and which it links."""

    def __init__(self, text):
        text = re.sub(r"#[^\n]*", "", text)
        self.links, self.folders = {}, {}
        for words in re.findall(r"\btbem_folder\(([^()]*)\)", text):
            path, *rest = words.split()
            cut = rest.index("LINK") if "LINK" in rest else len(rest)
            name = "tbem_" + path.replace("/", "_")
            self.links[name] = rest[cut + 1:]
            parts = [f"{path}/{part}" for part in rest[1:cut]] if rest[:1] == ["PARTS"] else []
            for folder in [path] + parts:
                self.folders[re.sub(r"[^/]+/\.\./", "", folder)] = name
        for words in re.findall(r"\btarget_link_libraries\(([^()]*)\)", text):
            name, _, *rest = words.split()
            self.links.setdefault(name, []).extend(rest)

    def closure(self, names):
        seen, todo = set(), list(names)
        while todo:
            name = todo.pop().replace("tbem::", "tbem_")
            if name not in seen:
                seen.add(name)
                todo.extend(self.links.get(name, []))
        return seen

    def of(self, path):
        parts = path.split("/")[:-1]
        rows = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.folders[row] for row in rows if row in self.folders), None)


def check_links(tree):
    """A library includes headers of libraries that CMakeLists.txt links to it, or it links only where others bring them."""
    if "CMakeLists.txt" not in tree.known:
        return []
    errors, libraries = [], Libraries(tree.text("CMakeLists.txt"))
    linked = {name: libraries.closure([name]) for name in libraries.links}
    for path in tree.code("compiler", "runtime"):
        name = libraries.of(path)
        for line, _, header in tree.includes(path) if name else ():
            owner = libraries.of(header)
            if owner and owner not in linked[name]:
                errors.append(f"{path}:{line}: {name} does not link {owner} ({header}): name it in CMakeLists.txt")
    return errors


def check_tests(tree, everything="tbem_compiler_driver"):
    """A test includes headers of libraries that its folder's links.cmake links, or `everything` without that file."""
    if "CMakeLists.txt" not in tree.known:
        return []
    errors, libraries = [], Libraries(tree.text("CMakeLists.txt"))
    programs = {}
    for path in tree.code("test"):
        if re.match(r"test/(unit|prop)/[^/]+/", path):
            programs.setdefault("/".join(path.split("/")[:3]), []).append(path)
    for folder, todo in programs.items():
        file = folder + "/links.cmake"
        listed = re.search(r"set\(LINKS ([^()]*)\)", tree.text(file)) if file in tree.known else None
        linked, seen = libraries.closure(listed[1].split() if listed else [everything]), set()
        todo = list(todo)
        while todo:  # and what of other tests' helpers it includes
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            for line, _, name in tree.includes(path):
                target = target_of(tree, path, name)
                if target and target.startswith("test/"):
                    todo.append(target)
                owner = libraries.of(name)
                if owner and owner not in linked:
                    errors.append(f"{path}:{line}: {folder} does not link {owner} ({name}): name it in {file}")
    return errors


def _circles(edges):
    """The strongly connected parts of more than one node (Tarjan 1972), without recursion."""
    index, low, stack, circles = {}, {}, [], []
    for root in sorted(edges):
        todo = [] if root in index else [(root, iter(sorted(edges[root])))]
        if todo:
            index[root] = low[root] = len(index)
            stack.append(root)
        while todo:
            node, rest = todo[-1]
            after = next(rest, None)
            if after is None:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        circles.append(sorted(stack[at:]))
                    del stack[at:]
            elif after not in index:
                index[after] = low[after] = len(index)
                stack.append(after)
                todo.append((after, iter(sorted(edges.get(after, ())))))
            elif after in stack:
                low[node] = min(low[node], index[after])
    return circles


def check_circles(tree):
    """Headers include each other in no circle; nor do files of different folders, a header and its .cpp being one."""
    headers, stems = {}, {}
    for path in tree.code("compiler", "runtime", "tools"):
        for _, quoted, name in tree.includes(path):
            target = target_of(tree, path, name) if quoted else None
            if target is None or target.endswith(".def"):  # the other side's list
                continue
            if path.endswith(".h"):
                headers.setdefault(path, set()).add(target)
            stems.setdefault(path.rpartition(".")[0], set()).add(target.rpartition(".")[0])
    errors = [f"{circle[0]}:1: these headers include each other: {' '.join(circle)}" for circle in _circles(headers)]
    for circle in _circles({stem: others - {stem} for stem, others in stems.items()}):
        if len({stem.rpartition("/")[0] for stem in circle}) > 1:
            errors.append(f"{circle[0]}:1: these files of several folders include each other: {' '.join(circle)}")
    return errors
