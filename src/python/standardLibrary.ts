/** The top-level modules of Python 3.12 and 3.13 (`sys.stdlib_module_names`) that a program can import by name. */
const MODULES: ReadonlySet<string> = new Set(
  `abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile calendar cmath cmd code codecs
  codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses
  dataclasses datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp
  fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
  hmac html http idlelib imaplib importlib inspect io ipaddress itertools json keyword linecache locale logging lzma
  mailbox marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc nt ntpath nturl2path numbers opcode
  operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile
  pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter
  runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat
  statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap
  threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
  unicodedata unittest urllib uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xml xmlrpc zipapp zipfile
  zipimport zlib zoneinfo`.split(/\s+/),
);

/** Python's own classes, which every module knows without an import. */
const CLASSES =
  /^(?:[A-Z]\w*(?:Error|Warning|Exception)|Exception|BaseExceptionGroup|ExceptionGroup|GeneratorExit|KeyboardInterrupt|StopAsyncIteration|StopIteration|SystemExit|bool|bytearray|bytes|classmethod|complex|dict|enumerate|filter|float|frozenset|int|list|map|memoryview|object|property|range|reversed|set|slice|staticmethod|str|super|tuple|type|zip)$/;

/** Whether `module`, or the package that it is in, comes with Python. */
export function isOfStandardLibrary(module: string): boolean {
  return MODULES.has(module.split('.', 1)[0] ?? '');
}

/** Whether a name that nobody binds is a class of Python's own. */
export function isBuiltInClass(name: string): boolean {
  return CLASSES.test(name);
}
