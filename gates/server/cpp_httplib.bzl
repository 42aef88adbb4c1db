"""How sources that include cpp-httplib are compiled.

The registry's cpp-httplib is a header, which these defines give TLS and compression; it
sets them for its own compilation alone. All rules that include it must agree, since
they change its classes. Debian's library sets the same, and one more.
"""

CPP_HTTPLIB_DEFINES = [
    "CPPHTTPLIB_OPENSSL_SUPPORT",
    "CPPHTTPLIB_ZLIB_SUPPORT",
]
