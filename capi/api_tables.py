"""The tables of capi/api: read, and each routine's types spelled in the C face and in CUDA's. capi/README.md says how a
table is read.
"""
import re

LETTERS = {  # letter: C type, CUDA type, C++ type, and the same of its real type
    "S": ("float", "float", "float", "float", "float"),
    "D": ("double", "double", "double", "double", "double"),
    "C": ("trnComplex", "cuComplex", "std::complex<float>", "float", "float"),
    "Z": ("trnDoubleComplex", "cuDoubleComplex", "std::complex<double>", "double", "double"),
}
ENUM_KINDS = {"op": "&Operation_t", "uplo": "&FillMode_t", "side": "&SideMode_t", "diag": "&DiagType_t"}  # cuBLAS's
SPACED = {"int_32": "int",  "const_int": "const int", "const_char": "const char", "unsigned_long_long": "unsigned long long", "long_long": "long long"}
VERSION = "TRN_0.1"  # the version node of every symbol; a released node is closed, and new functions get a new one
ORDER = ["runtime", "blas", "blasxt", "fft", "rand", "solver", "sparse", "solversp", "solverrf", "solvermg", "tensor"]


class Library:
    def __init__(self, name):
        self.name, self.enums, self.types, self.constants, self.rows = name, [], [], [], []
        self.handle, self.handle_status = None, 1
        self.guards, self.c_includes, self.cuda_includes, self.more_headers = [], [], [], []


class Row:
    """One `fn` line: a name pattern, the letters it is made for, and its arguments."""

    def __init__(self, line):
        head, tail = line[3:].split(":", 1)
        words = head.split()
        self.pattern, flags = words[0], words[1:]
        self.wide = "64" in flags
        self.v2 = "v2" in flags
        self.ours = "ours" in flags
        self.manual = "manual" in flags
        self.queued = "queued" in flags
        self.captured = "capture" in flags
        self.handle_last = "handlelast" in flags
        self.named = "names" in flags
        self.inline = "inline" in flags
        self.no_handle = "nohandle" in flags or "anyhandle" in flags or self.named
        self.any_handle = "anyhandle" in flags
        self.letters = []
        for flag in flags:
            if "=" in flag:
                self.letters.append(tuple(flag.split("=")))
            elif flag in LETTERS:
                self.letters.append((flag, flag))
        match = re.fullmatch(r"\s*(?:(\S+) )?([\w<>]+)\((.*)\)\s*", tail)
        if not match:
            raise SystemExit(f"cannot read the row: {line}")
        self.returns, self.body, arguments = match.groups()
        self.inline = self.inline or "<" in self.body
        self.arguments, self.unused = [], set()  # (kind, name), and the names of those that no body gets
        for text in arguments.split(",") if arguments.strip() else []:
            unused, kind, name = re.fullmatch(r"\s*(unused )?(.*?)\s*(\w+)\s*", text).groups()
            self.arguments.append((kind, name))
            if unused:
                self.unused.add(name)
        # Arguments that say which type the others have: all the same one, or its real type.
        self.types = [name for kind, name in self.arguments if kind == "type"]
        self.real_types = [name for kind, name in self.arguments if kind == "type R"]

    def names(self):
        """(name without prefix, letter or None) of each routine."""
        if not self.letters:
            return [(self.pattern, None)]
        return [(re.sub(r"[?*]", part, self.pattern), letter) for part, letter in self.letters]


def siblings(line):
    """The row, and those that its words with + stand for: the same routine for const operands, and what comes before it."""
    head, tail = line.split(":", 1)
    words = head.split()
    name, extra = words[1], [w for w in words if w.startswith("+")]
    plain = " ".join(w for w in words if w not in extra)
    found = [plain + (" inline:" if "+const" in extra else ":") + tail]
    for word in extra:
        if word.startswith("+bufferSize") and "unused " in tail:
            found.append(workspace_query(f"{plain.replace(name, name + '_bufferSize')}", tail, word.endswith("=out")))
        elif word == "+const":
            other = name.replace("Create", "CreateConst") if name.startswith("Create") else "Const" + name
            arguments = re.sub(r"\$((?:Sp|Dn)(?:Vec|Mat)Descr_t)", r"$Const\1", re.sub(r"\bvoid\*", "const void*", tail))
            found.append(f"{plain.replace(name, other)} inline:{arguments}")
        else:  # +bufferSize, +preprocess
            body = "buffer_size" if word == "+bufferSize" else "prepare"
            arguments = re.sub(r"\w+\(", body + "(", tail, count=1)
            if body == "buffer_size":
                arguments = re.sub(r"void\* \w+\)", "size_t* bufferSize)", arguments)
            found.append(f"{plain.replace(name, name + '_' + word[1:])} inline:{arguments}")
    return found


def workspace_query(head, tail, keep):
    """cuSOLVER's question for the size of a workspace: the operands before it, const unless `keep`; the address of each
    size; then what is no result.
    """
    asked, behind = [], False
    for text in re.search(r"\((.*)\)", tail)[1].split(", "):
        unused, kind, name = re.fullmatch(r"(unused )?(.*?)\s*(\w+)", text).groups()
        kind = {"type": "#DataType", "type R": "#DataType"}.get(kind, kind)
        if unused and kind in ("int", "size_t", "int64_t"):
            asked.append(f"{kind}* {name}")
        elif unused and not kind.endswith("Params_t"):
            behind = True
        elif not behind:
            const = kind if keep else re.sub(r"^void\*$", "const void*", re.sub(r"^out\b", "in", kind))
            asked.append(f"{unused or ''}{const} {name}")
        elif not kind.endswith("*"):
            asked.append(f"{kind} {name}")
    body = "buffer_sizes" if sum(a.startswith("size_t*") for a in asked) == 2 else "buffer_size"
    return f"{head} inline: {body}({', '.join(asked)})"


def read(path):
    text = re.sub(r"\n[ \t]+(?=\S)", " ", open(path, encoding="utf-8").read())
    library = None
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("library "):
            words = line.split()
            library = Library(words[1])
            fields = " ".join(words[2:])
            library.c, library.cuda = re.search(r"\bc (\w+) cuda (\w+)", fields).groups()
            library.enum_c, library.enum_cuda = re.search(r"enumerators (\w+) (\w+)", fields).groups()
            library.c_header, library.cuda_header = re.search(r"header (\S+) (\S+)", fields).groups()
            library.status = re.search(r"status (\w+)", fields).group(1)
            if handle := re.search(r"handle (\w+) (\w+)", fields):
                library.handle = handle.groups()
            if status := re.search(r"null (\d+)", fields):
                library.handle_status = int(status[1])
        elif line.startswith("guards "):
            library.guards = line.split()[1:]
        elif line.startswith("includes "):
            c, cuda = line[9:].split("/")
            library.c_includes, library.cuda_includes = c.split(), cuda.split()
        elif line.startswith("also "):
            library.more_headers = line.split()[1:]
        elif line.startswith("enum "):
            head, values = line[5:].split(":", 1)
            name, tag = head.split()
            library.enums.append((name, tag, [v.split("=") for v in values.split()]))
        elif line.startswith("constant "):
            kind, values = line[9:].split(":", 1)
            library.constants += [(kind, *v.split("=")) for v in values.split()]
        elif line.startswith("type "):
            _, name, definition = line.split(" ", 2)
            library.types.append((name, definition))
        elif line.startswith("fn "):
            library.rows += [Row(text) for text in siblings(line)]
        else:
            raise SystemExit(f"{path}: cannot read the line: {line}")
    return library


def spell(library, text, face):
    """The type `text` of a table in the C or the CUDA face."""
    text = re.sub(r"\w+", lambda word: SPACED.get(word[0], word[0]), text)
    complex_names = {"@fComplex": ("trnComplex", "cufftComplex"), "@dComplex": ("trnDoubleComplex", "cufftDoubleComplex")}
    for name, (c, cuda) in complex_names.items():
        text = text.replace(name, c if face == "c" else cuda)
    text = text.replace("&", "trnblas" if face == "c" else "cublas")
    text = text.replace("%", "trnsparse" if face == "c" else "cusparse")
    text = text.replace("#", "trn" if face == "c" else "cuda")
    text = text.replace("~", library.c if face == "c" else "")
    text = text.replace("$", library.c if face == "c" else library.cuda)
    return text.replace("@", "trn" if face == "c" else "cuda")


def declaration_type(library, kind, letter, wide, face):
    """How an argument of this kind is declared; an array kind leaves its brackets to the caller."""
    integer = "int64_t" if wide else "int"
    words = kind.split()
    first = words[0] if words else ""
    if first == "type":
        return spell(library, "#DataType", face)
    if first == "int" and len(words) == 1:
        return integer
    if first in ENUM_KINDS:
        return spell(library, ENUM_KINDS[first], face)
    if first == "real" and len(words) == 1:
        return LETTERS[letter][3]
    if first == "value" and len(words) == 1:
        return LETTERS[letter][0 if face == "c" else 1]
    if first in ("scalar", "in", "out", "result", "inarray", "outarray", "outpointers"):
        which = words[1] if len(words) > 1 else "T"
        column = (0 if face == "c" else 1) if which == "T" else 3
        value = integer if which == "int" else LETTERS[letter][column] if letter else "void"
        return {"scalar": f"const {value}*", "in": f"const {value}*", "out": f"{value}*", "result": f"{value}*",
                "inarray": f"const {value}* const*", "outarray": f"{value}* const*", "outpointers": f"{value}**"}[first]
    return spell(library, kind, face)


def routines(library):
    """(row, name, letter, wide) of every routine of the library."""
    for row in library.rows:
        for name, letter in row.names():
            yield row, name, letter, False
            if row.wide:
                yield row, name + "_64", letter, True


def parameters(library, row, letter, wide, face):
    found = []
    if library.handle and not row.manual and (not row.no_handle or row.any_handle):
        kind, name = library.handle
        found.append((spell(library, "$" + kind, face), name))
    listed = [(declaration_type(library, kind, letter, wide, face), name) for kind, name in row.arguments]
    return listed + found if row.handle_last else found + listed


def returned(library, row, face):
    return spell(library, row.returns, face) if row.returns else spell(library, "$" + library.status, face)


def prototype(library, row, name, letter, wide, face):
    listed = ", ".join(f"{t} {n}" for t, n in parameters(library, row, letter, wide, face)) or "void"
    prefix = library.c if face == "c" else library.cuda
    return f"{returned(library, row, face)} {prefix}{name}({listed})"


def enumerator(library, name, face):
    prefix = library.enum_c if face == "c" else library.enum_cuda
    if name.startswith("-"):  # CUSOLVERDN_GETRF: the name goes on where the prefix ends
        return prefix + name[1:]
    if name.startswith("&"):  # CUBLAS_DIRECT_FORWARD, which cuSOLVER has under cuBLAS's prefix
        return ("TRNBLAS_" if face == "c" else "CUBLAS_") + name[1:]
    return prefix + ("_" if prefix.isupper() else "") + name
