// A static program, into which no library can be preloaded.

int main() { return 0; }
