"""What the standard library raises of an archive that is damaged, or was made to do harm."""

import lzma
import struct
import zipfile
import zlib

ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # a way of compressing that Python does not know
    RuntimeError,  # encrypted
    ValueError,  # a name that is no text, a size below nothing
    OSError,  # what bz2 says of damaged data
)
