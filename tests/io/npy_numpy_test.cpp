// NumPy is the judge of both directions: xorder reads what NumPy writes and sees the same array, and NumPy
// reads what xorder writes with the type that was carried through. Of headers that nobody wrote like that, too, both
// say the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "io/format/npy_header.hpp"
#include "long_form.hpp"
#include "text/json_text.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

// `write DIR` makes arrays of every kind of type, in every order, and says in DIR/arrays.json what NumPy
// makes of them. `check DIR` compares each NAME.npy with what xorder made of it, NAME.out, a Fortran-ordered
// one with its transpose. `mutate DIR SEED` makes DIR/headers: thousands of headers in unusual spellings, many of
// them damaged. `judge DIR` compares what xorder said of them, DIR/results.json, with numpy.load.
constexpr const char* script = R"python(
import ast, json, os, random, re, struct, sys, warnings
import numpy as np
from numpy.lib import format

mode, directory, *seed = sys.argv[1:]

def path(name):
    return os.path.join(directory, name)

def types():
    for t in '? u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16'.split():
        yield t
        yield '>' + t
    if np.dtype('longdouble').itemsize == 16:
        yield from ('f16', 'c32', '>f16')
    yield from ('S1', 'S12', 'U5', '>U5', 'V1', 'V24', 'M8', 'M8[ns]', '>M8[D]', 'm8[25s]', 'm8', 'M8[7us]')
    yield [('a', 'u1'), ('b', '>f8'), ('c', 'S3')]
    yield np.dtype([('a', 'u1'), ('b', 'f8'), ('c', 'S3'), ('d', 'i4')], align=True)
    yield np.dtype([('a', 'u1'), ('n', np.dtype([('x', 'i2'), ('y', 'c16')], align=True)), ('z', '?')], align=True)
    yield [('a', [('b', [('c', [('d', 'i2'), ('e', 'U2')])])]), ('f', 'M8[ms]')]
    yield [('a', 'f4', (2, 3)), ('b', 'i1', 4), ('c', [('d', 'u2', (1, 1, 2))], (3,)), ('e', 'f8', ())]
    yield [('a', (np.dtype(('f4', (2,))), (3,)))]
    yield [(('the title', 'a'), 'f8'), ((5, 'b'), 'i4'), (("it's", 'c'), 'i4')]
    yield {'names': ['a', 'b'], 'formats': ['f8', 'i4'], 'offsets': [4, 16], 'itemsize': 24}
    yield [('s', 'S0'), ('b', 'f8'), ('e', 'f4', (0,))]
    yield [("it's", 'u1'), ('a "quoted" name', 'u1'), ('both \' and "', 'u1'), ('back\\slash', 'u1'), ('li\nne\t', 'u1')]
    yield [('h\xe9', 'u1'), ('\xff', 'f8')]                        # latin1: still version 1
    yield [('\u03bb', 'u1'), ('\u4e2d\u6587', 'f8'), ('\U0001f600', 'S2'), ('\u2028\u200b\xad', 'u1')]
    yield [('field%05d' % i, 'f4') for i in range(3500)]           # version 2
    yield [('\u03bb%05d' % i, 'f4') for i in range(500)]           # version 3
    for n in range(385, 515, 6):                                   # around NumPy's limit of 10,000 characters
        yield [('f%03d' % i, 'f4') for i in range(n)]
    dtype = np.dtype('i2')
    for i in range(12):
        dtype = np.dtype([('n%d' % i, dtype)])
    yield dtype

def shapes(dtype):
    yield from (((3, 4), 'C'), ((3, 4), 'F'))
    if dtype.itemsize < 100:
        yield from (((), 'C'), ((5,), 'C'), ((0,), 'C'), ((0, 3), 'C'), ((3, 0), 'F'), ((2, 3, 5), 'C'), ((2, 3, 5), 'F'), ((1, 1), 'F'),
                    ((1,) * 32, 'C'), ((2, 1, 3), 'F'))

def large(name):  # where NumPy wants to be told that the header is long
    with open(path(name), 'rb') as f:
        version = format.read_magic(f)
        return int.from_bytes(f.read(2 if version == (1, 0) else 4), 'little') > 10000

def load(name, like=None, **options):
    return np.load(path(name), allow_pickle=large(like or name), **options)

def write():
    warnings.simplefilter('ignore')  # NumPy warns of versions 2 and 3
    random = np.random.RandomState(1)
    arrays = []
    for t in types():
        dtype = np.dtype(t)
        for shape, order in shapes(dtype):
            size = int(np.prod(shape)) * dtype.itemsize
            a = np.ndarray(shape, dtype, bytearray(random.bytes(size) or b'x'), order=order)
            name = '%04d.npy' % len(arrays)
            np.save(path(name), a)
            back = load(name, mmap_mode='r') if a.size else load(name)
            with open(path(name), 'rb') as f:
                version = format.read_magic(f)
                shape, fortran, dtype = format._read_array_header(f, version, max_header_size=1 << 30)
                arrays.append({'name': name, 'version': version[0], 'offset': f.tell(), 'bytes': back.dtype.itemsize,
                               'shape': shape, 'fortran': fortran, 'descr': repr(format.dtype_to_descr(dtype))})
    with open(path('arrays.json'), 'w') as f:
        json.dump(arrays, f)
    for i, t in enumerate(['O', [('a', 'O')], [('a', 'f8'), ('b', [('c', 'O', (2,))])]]):
        with open(path('object%d.bad' % i), 'wb') as f:
            np.save(f, np.zeros(3, t), allow_pickle=True)

def check():
    wrong = 0
    with open(path('arrays.json')) as f:
        arrays = json.load(f)
    for array in arrays:
        name, out = array['name'], array['name'].replace('.npy', '.out')
        expected = load(name)
        if array['fortran']:
            expected = expected.T
        loaded = [load(out, name)]
        if expected.size:  # mmap takes nothing empty
            loaded.append(load(out, name, mmap_mode='r'))
            loaded.append(np.memmap(path(out), expected.dtype, 'r', os.path.getsize(path(out)) - expected.nbytes,
                                    expected.shape))
        for a in loaded:
            good = (a.shape == expected.shape and a.dtype == expected.dtype and a.flags.c_contiguous and
                    repr(a.dtype) == repr(expected.dtype) and a.tobytes() == expected.tobytes())
            if not good:
                print(name, 'is', a.shape, a.dtype, 'not', expected.shape, expected.dtype)
                wrong += 1
    return min(wrong, 100)

data = bytes(8192)  # behind each header: enough for its array

class Mutations:
    names = sorted(name for name in np.sctypeDict if isinstance(name, str)) + list('?bBhHiIlLqQefdgFDGcSUVpPaO')
    types = """b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 f16 c8 c16 c32 S3 U2 V5 a4 S0 V0 U0 O f08 S007 M8 M8[ns] m8[25s]
               datetime64[D] timedelta64 f1 g2 f12 i3 f8,f8 2i4""".split()
    tokens = """+ - 0x 0o 0b _ L # ( ) [ ] { } , : ' " \\ \\x41 \\n u r b 0 1 2 10 -0 00 01 1_0 0x3 +3 True None . 1.0 1j () (3,)
                a f8 < > = | '' 'descr':'<i4', 'shape':(2,), 'x':1, *2 ...""".split() + ['# c\n', '\n', '\t', '\f', ' ', '\0', '\xe9', '\r']

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self):
        n = self.random.choice([0, 1, 1, 2, 2, 3, 4])
        spellings = [str(n)] * 8 + [hex(n), oct(n), bin(n), f'+{n}', f'-{n}', f'{n}L', f'0x{n}L', f'+ {n}', f'0_{n}', f'{n}_0']
        return self.random.choice(spellings)

    def descr(self, depth=0):
        choice = self.random.choice
        if depth == 2 or self.random.random() < 0.7:
            return repr(choice(['', '<', '>', '=', '|']) + choice(self.types) if self.random.random() < 0.5 else choice(self.names))
        fields = []
        for i in range(self.random.randrange(1, 4)):
            name = choice(["'a%d'" % i, "'%d'" % i, "('t%d', 'n%d')" % (i, i), "''"])
            fields.append('(' + name + ', ' + self.descr(depth + 1) + choice(['', '', ', (2,)', ', 3', ', (2, 1)']) + ')')
        return '[' + ', '.join(fields) + ']'

    def header(self):
        choice, randrange = self.random.choice, self.random.randrange
        shape = ''.join(self.integer() + ', ' for _ in range(randrange(4)))
        items = ["'descr': " + self.descr(), "'fortran_order': " + choice(['True', 'False']), f"'shape': ({shape})"]
        items += choice([[], [], [], [choice(items)]])
        self.random.shuffle(items)
        text = '{' + ', '.join(items) + ', }'
        for _ in range(choice([0, 0, 0, 1, 1, 2, 3])):
            at = randrange(len(text) + 1)
            text = text[:at] + choice(self.tokens + [''] * 20 + [text[at:at + randrange(12)]] * 20) + text[at + randrange(3):]
        return text + choice(['', '\n', '   \n', '  # end\n'])

def mutate():
    mutations = Mutations(int(seed[0]))
    with open(path('headers'), 'wb') as out:
        for i in range(int(seed[1])):
            version = mutations.random.choice([1, 1, 2, 3])
            text = mutations.header().encode('utf8' if version == 3 else 'latin1')
            whole = b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', len(text)) + text
            out.write(struct.pack('<I', len(whole)) + whole)

# Where xorder refuses what NumPy reads: its message, what the header has, and the reason.
STRICTER = [
    ('no bytes', '', 'there is nothing to move, or NumPy takes (S, 3) for S3'),
    ('negative extent', '', 'NumPy takes what the file has, and an output needs a shape'),
    ('extent "(True|False)"', '', 'a bool is an int in Python only'),
    (r'unknown type "([<>=|]?[0-9(]|[^"]*[,+ \\])', '', 'several types or a repetition in one string: no program writes those'),
    (r'unknown type "[^"]*[mM]8\[([-+\s\\]|0|[^"]*/)', '', 'a unit with a sign or a divisor, or of no time: NumPy writes none'),
    ('subarray of extents', '', 'NumPy takes another type for extents, and then leaves it out'),
    ('Python objects', ', *[23(]', 'NumPy forgets objects in nameless subarrays'),
    ('corrupt', r"""['"]\s*['"]|[rRbBfF]['"]|\\""", 'strings in parts, with a prefix, or with escapes that Python warns of'),
    ('corrupt', r'[0-9]\s+L', "a Python 2 long's L stands at its digits"),
]
# Where xorder reads what NumPy refuses: NumPy's message, xorder's type or the header, and the reason.
LAXER = [
    ('not a valid dtype', r"'[<>=|][A-Za-z][0-9]+'", 'types of ml_dtypes and others, which NumPy knows once they are imported'),
    ('Cannot parse', '[0-9a-fA-F]L', "a Python 2 long in version 3, too"),
    ('already used', "''", 'nameless fields are padding, whatever their type'),
]

def same(loaded, dtype, shape, fortran, said):
    fortran = fortran and len(shape) > 1 and max(shape) > 1  # or else both orders are the same
    read = format.descr_to_dtype(ast.literal_eval(said['descr']))
    return (list(shape), fortran, dtype.itemsize, dtype) == (said['shape'], said['fortran'], said['bytes'], read) and list(loaded.shape) == said['shape']

def judge():
    warnings.simplefilter('ignore')
    with open(path('headers'), 'rb') as f:
        headers = f.read()
    with open(path('results.json')) as f:
        results = json.load(f)
    at = wrong = both = 0
    for said in results:
        length, = struct.unpack_from('<I', headers, at)
        header = headers[at + 4:at + 4 + length]
        at += 4 + length
        text = header[10 if header[6] == 1 else 12:].decode('latin1')
        with open(path('header.npy'), 'wb') as f:
            f.write(header + data)
        error = said.get('error', '')
        try:
            loaded = np.load(path('header.npy'))
            with open(path('header.npy'), 'rb') as f:
                format.read_magic(f)
                shape, fortran, dtype = format._read_array_header(f, (header[6], 0))
        except Exception as refusal:
            fine = error or any(re.search(what, str(refusal)) and re.search(has, text + said['descr']) for what, has, _ in LAXER)
            verdict = f'{type(refusal).__name__}: {refusal}'
        else:
            verdict = f'{shape}, {fortran}, {dtype}'
            if error:
                fine = any(re.search(what, error) and re.search(has, text) for what, has, _ in STRICTER)
            else:
                fine = same(loaded, dtype, shape, fortran, said)
                both += 1
        if not fine:
            wrong += 1
            print(repr(text), 'NumPy:', verdict[:300], 'xorder:', said)
    print(both, 'of', len(results), 'are read by both')
    return min(wrong, 100) if both > len(results) // 10 else 101

sys.exit({'write': write, 'check': check, 'mutate': mutate, 'judge': judge}[mode]())
)python";

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Numpy : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("XORDER_TEST_PYTHON");
    python_ = given != nullptr ? given : "/usr/bin/python3";  // Debian's, the one that python3-numpy is for
    if (std::system((python_ + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << python_ << " has no NumPy: install python3-numpy, or set XORDER_TEST_PYTHON";
    std::string name = (fs::temp_directory_path() / "xorder-numpy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::ofstream(directory_ / "script.py") << script;
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  int run(const std::string& mode, const std::string& more = "") const {
    const int status = std::system(
        fmt::format("{0} '{1}/script.py' {2} '{1}' {3}", python_, directory_.string(), mode, more).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string python_;
  fs::path directory_;
};

TEST_F(Numpy, AgreesOnEveryArray) {
  ASSERT_EQ(run("write"), 0);
  const auto arrays = nlohmann::json::parse(slurp(directory_ / "arrays.json"));
  ASSERT_GT(arrays.size(), 400u);
  int versions[4] = {};
  for (const auto& expected : arrays) {
    SCOPED_TRACE(expected.dump().substr(0, 300));
    const fs::path path = directory_ / expected["name"].get<std::string>();
    const File file = File::open_input(path, Access::buffered);
    ASSERT_TRUE(is_npy(file));
    ArrayDescription array;
    ASSERT_NO_THROW(array = read_npy_header(file));
    ++versions[expected["version"].get<int>()];
    EXPECT_EQ(array.dtype.bytes, expected["bytes"]);
    EXPECT_EQ(array.dtype.descr, expected["descr"]);
    EXPECT_EQ(array.extents, expected["shape"].get<std::vector<std::uint64_t>>());
    EXPECT_EQ(array.order() == Order::fortran, expected["fortran"].get<bool>());
    EXPECT_EQ(array.offset, expected["offset"]);

    // The elements in the order in which they lie are the C-ordered array, or the transpose of the other one.
    if (array.order() == Order::fortran) std::reverse(array.extents.begin(), array.extents.end());
    const std::string header = npy_header(array.dtype, array.extents);
    const bool empty = array.elements() == 0;
    EXPECT_TRUE(empty ? header.size() % 64 == 0
                      : header.size() % 4096 == 0 || (header.size() > 8192 && header.size() <= 9984))
        << header.size();
    std::ofstream(fs::path(path).replace_extension(".out"), std::ios::binary)
        << header << slurp(path).substr(array.offset);
  }
  EXPECT_GT(versions[1], 0);
  EXPECT_GT(versions[2], 0);
  EXPECT_GT(versions[3], 0);
  EXPECT_EQ(run("check"), 0);

  for (const char* name : {"object0.bad", "object1.bad", "object2.bad"}) {
    try {
      read_npy_header(File::open_input(directory_ / name, Access::buffered));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("Python objects"));
    }
  }
}

TEST_F(Numpy, ReadsTheSameHeaders) {
  const char* const given = std::getenv("XORDER_TEST_SEED");
  const std::string seed = given != nullptr ? given : "1";  // rare headers are no news at every build
  const int count = test::rounds(4000, 10'000);
  ASSERT_EQ(run("mutate", fmt::format("{} {}", seed, count)), 0);
  const std::string headers = slurp(directory_ / "headers");
  nlohmann::json results;
  for (std::size_t at = 0; at < headers.size();) {
    std::uint32_t length = 0;
    std::memcpy(&length, &headers[at], sizeof length);
    const std::string_view header = std::string_view(headers).substr(at + sizeof length, length);
    at += sizeof length + length;
    try {
      const ArrayDescription array = parse_npy_header(header, header.size() + 8192, "header.npy");
      results.push_back({{"shape", array.extents},
                         {"fortran", array.order() == Order::fortran},
                         {"bytes", array.dtype.bytes},
                         {"descr", array.dtype.descr}});
    } catch (const InputError& error) {
      results.push_back({{"error", error.what()}});
    }
  }
  ASSERT_GT(results.size(), 1000u);
  std::ofstream(directory_ / "results.json") << json_text(results);
  EXPECT_EQ(run("judge"), 0);
  test::tally(count, "mutated .npy headers, read or refused as NumPy does");
}

}  // namespace
}  // namespace xorder::io
