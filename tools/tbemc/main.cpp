// The command line: all of it is in compiler/driver.
#include "compiler/driver/Cli.h"

int main(int argc, char** argv) { return tbem::driver::runCommandLine(argc, argv); }
