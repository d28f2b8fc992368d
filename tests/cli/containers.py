"""Writers for small FITS, NetCDF, NIfTI and ENVI files, from the formats' specifications."""

import struct

BITPIX = {"u1": 8, "i2": 16, "i4": 32, "i8": 64, "f4": -32, "f8": -64}


def fits_unit(array, first, **keywords):
    """A header and data unit (HDU); `array` is big-endian, or None."""
    def card(keyword, value):
        value = f"'{value:8}'" if isinstance(value, str) else f"{'T' if value is True else value:>20}"
        return f"{keyword:8}= {value}".ljust(80)

    shape = () if array is None else array.shape
    cards = [card(*first), card("BITPIX", 8 if array is None else BITPIX[array.dtype.str[1:]]), card("NAXIS", len(shape))]
    cards += [card(f"NAXIS{i}", extent) for i, extent in enumerate(shape[::-1], 1)]
    cards += [card(keyword, value) for keyword, value in keywords.items()]
    header = "".join(cards + ["END".ljust(80)]).encode()
    data = b"" if array is None else array.tobytes()
    return header.ljust(-(-len(header) // 2880) * 2880) + data.ljust(-(-len(data) // 2880) * 2880, b"\0")


def fits(*arrays):
    """The first array is the primary one; the others are extensions."""
    units = [fits_unit(arrays[0], ("SIMPLE", True))]
    units += [fits_unit(array, ("XTENSION", "IMAGE"), PCOUNT=0, GCOUNT=1) for array in arrays[1:]]
    return b"".join(units)


def netcdf(variables, version=1):
    """variables: {name: (dimension names, array)}; "time" is the record dimension. All arrays of a dimension agree."""
    types = ["i1", "S1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8"]
    lengths = {dim: extent for dims, array in variables.values() for dim, extent in zip(dims, array.shape)}
    number = (lambda n: struct.pack(">q", n)) if version == 5 else (lambda n: struct.pack(">i", n))
    offset = (lambda n: struct.pack(">i", n)) if version == 1 else (lambda n: struct.pack(">q", n))

    def name(text):
        return number(len(text)) + text.encode().ljust(-(-len(text) // 4) * 4, b"\0")

    def listed(tag, items):
        return struct.pack(">i", tag if items else 0) + number(len(items)) + b"".join(items)

    def padded(data):
        return data.ljust(-(-len(data) // 4) * 4, b"\0")

    records = [key for key, (dims, _) in variables.items() if dims[:1] == ("time",)]
    pad = padded if len(records) > 1 else bytes  # a record of one variable is not padded

    def header(begins):
        dims = [name(dim) + number(0 if dim == "time" else extent) for dim, extent in lengths.items()]
        attribute = [name("units") + struct.pack(">i", 2) + number(5) + padded(b"metre")]
        entries = []
        for key, (names, array) in variables.items():
            size = array[0].nbytes if key in records else array.nbytes
            entries.append(name(key) + number(len(names)) + b"".join(number(list(lengths).index(dim)) for dim in names) +
                           listed(12, attribute) + struct.pack(">i", 1 + types.index(array.dtype.str[1:])) +
                           number(-(-size // 4) * 4) + offset(begins[key]))
        return (b"CDF" + bytes([version]) + number(lengths.get("time", 0)) + listed(10, dims) + listed(12, attribute) +
                listed(11, entries))

    at, begins = len(header(dict.fromkeys(variables, 0))), {}
    for key in [key for key in variables if key not in records] + records:
        begins[key] = at
        array = variables[key][1]
        at += len(pad(array[0].tobytes()) if key in records else padded(array.tobytes()))
    content = header(begins) + b"".join(padded(array.tobytes()) for key, (_, array) in variables.items() if key not in records)
    for i in range(lengths.get("time", 0)):
        content += b"".join(pad(variables[key][1][i].tobytes()) for key in records)
    return content


NIFTI_TYPES = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "c8": 32, "f8": 64, "i1": 256, "u2": 512, "u4": 768, "i8": 1024, "u8": 1280}


def nifti(array, version=1, pair=False, slope=0.0, inter=0.0, extension=b""):
    """The header and the data, which follow each other in one file."""
    order = ">" if array.dtype.str[0] == ">" else "<"
    size = 348 if version == 1 else 540
    header = bytearray(size)
    offset = 0 if pair else size + 4 + len(extension)
    dim = [array.ndim, *array.shape, *[1] * (7 - array.ndim)]
    kind, bits = NIFTI_TYPES[array.dtype.str[1:]], 8 * array.itemsize
    if version == 1:
        fields = [(0, "i", 348), (40, "8h", *dim), (70, "2h", kind, bits), (108, "3f", offset, slope, inter)]
        header[344:] = b"ni1\0" if pair else b"n+1\0"
    else:
        fields = [(0, "i", 540), (12, "2h", kind, bits), (16, "8q", *dim), (168, "q", offset), (176, "2d", slope, inter)]
        header[4:12] = (b"ni2" if pair else b"n+2") + b"\0\r\n\x1a\n"
    for at, form, *values in fields:
        struct.pack_into(order + form, header, at, *values)
    data = array.tobytes(order="F")
    return (bytes(header), data) if pair else bytes(header) + bytes([bool(extension), 0, 0, 0]) + extension + data


ENVI_TYPES = {"u1": 1, "i2": 2, "i4": 3, "f4": 4, "f8": 5, "c8": 6, "c16": 9, "u2": 12, "u4": 13, "i8": 14, "u8": 15}


def envi(array, interleave, offset=0):
    """The header of a raw file that has `array` at `offset`, with its axes in the order of the interleave."""
    names = {"bsq": "bands lines samples", "bil": "lines bands samples", "bip": "lines samples bands"}[interleave].split()
    extents = "".join(f"{name} = {extent}\n" for name, extent in zip(names, array.shape))
    big = int(array.dtype.str[0] == ">")
    return (f"ENVI\ndescription = {{\n  samples = 7, by\n  a test}}\n{extents}header offset = {offset}\n"
            f"data type = {ENVI_TYPES[array.dtype.str[1:]]}\ninterleave = {interleave.upper()}\nbyte order = {big}\n"
            "; a comment = here\nband names = {\n first,\n second}\n")
