// Loaded into a process: libtorrent says that it is another version.
char const *_ZN10libtorrent7versionEv(void) { return "2.0.99.0"; }
