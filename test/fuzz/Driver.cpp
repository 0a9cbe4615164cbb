// Runs a fuzz target without libFuzzer: every file of the corpus once, then, for some seconds, mutants of them by a seeded
// mutator. usage: fuzz_TARGET [--seconds N] [--seed N] PATH...     (a folder stands for all files in and below it; the
// environment's TBEM_FUZZ_SECONDS goes before --seconds)
//
// An input that crashes the target, or takes it more than 5 s of processor time, is written to crash-TARGET in the working
// folder.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 16U;
constexpr int kSeconds = 5;

// What a signal handler may read: plain data only.
const std::string* current = nullptr;
char crashFile[256];
int terminal = 2;

void keepInput() {
  if (current == nullptr) return;
  const int file = open(crashFile, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, current->data(), current->size());
  close(file);
  const char* words[] = {"the input is in ", crashFile, "\n"};
  for (const char* word : words) [[maybe_unused]] const ssize_t shown = write(terminal, word, std::strlen(word));
}

void onCrash(int signal) {
  if (signal == SIGPROF) {
    const char text[] = "more than 5 s of processor time for one input\n";
    [[maybe_unused]] const ssize_t shown = write(terminal, text, sizeof text - 1);
  }
  keepInput();
  std::signal(signal, SIG_DFL);
  if (signal == SIGPROF) _exit(1);
  raise(signal);
}

void run(const std::string& input) {
  current = &input;
  itimerval limit{};
  limit.it_value.tv_sec = kSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  current = nullptr;
}

class Mutator {
public:
  Mutator(std::uint64_t seed, const std::vector<std::string>& seeds) : random(seed), seeds(seeds) {}

  std::string next() {
    std::string input = seeds[below(seeds.size())];
    for (std::size_t n = 1 + below(6); n > 0; --n) change(input);
    if (input.size() > kLongest) input.resize(kLongest);
    return input;
  }

private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit); }
  std::size_t span(const std::string& text) { return 1 + below(std::min<std::size_t>(text.size(), 32)); }

  void change(std::string& input) {
    const std::size_t at = below(input.size());
    switch (below(input.empty() ? 1 : 8)) {
      case 0:
        input.insert(at, std::string(1 + below(8), static_cast<char>(random())));
        return;
      case 1:
        input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        return;
      case 2:
        input[at] = static_cast<char>(random());
        return;
      case 3:
        input.erase(at, span(input));
        return;
      case 4: {
        const std::string piece = input.substr(at, span(input));
        input.insert(below(input.size()), piece);
        return;
      }
      case 5: {  // a number of 1, 2, 4 or 8 bytes at its limits, in either order
        static constexpr std::uint64_t kNumbers[] = {0,      1,          0x7f,       0xff,  0x7fff,
                                                     0xffff, 0x7fffffff, 0xffffffff, ~0ULL, ~0ULL >> 1U};
        const std::uint64_t number = kNumbers[below(std::size(kNumbers))];
        const std::size_t width = std::size_t{1} << below(4);
        const bool big = below(2) == 0;
        for (std::size_t i = 0; i < width && at + i < input.size(); ++i)
          input[at + i] = static_cast<char>(number >> (8 * (big ? width - 1 - i : i)));
        return;
      }
      case 6:
        input.resize(at);
        return;
      default: {  // the rest of another seed
        const std::string& other = seeds[below(seeds.size())];
        input = input.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }

  std::mt19937_64 random;
  const std::vector<std::string>& seeds;
};

void readAll(const std::filesystem::path& path, std::vector<std::string>& inputs) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (word == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      readAll(word, inputs);
    }
  }
  if (const char* wanted = std::getenv("TBEM_FUZZ_SECONDS"); wanted != nullptr) seconds = std::atof(wanted);
  if (inputs.empty()) {
    std::fprintf(stderr, "no corpus: give its files or folders\n");
    return 2;
  }
  std::snprintf(crashFile, sizeof crashFile, "crash-%s", std::filesystem::path(argv[0]).filename().c_str());
  // What the target says of broken inputs is not of interest here.
  terminal = dup(2);
  const int nowhere = open("/dev/null", O_WRONLY);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keepInput);  // its report is wanted
  } else {
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, onCrash);
    dup2(nowhere, 2);
  }
  std::signal(SIGPROF, onCrash);
  for (const std::string& input : inputs) run(input);
  Mutator mutator(seed, inputs);
  std::size_t mutants = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    run(mutator.next());
    ++mutants;
  }
  std::printf("%zu inputs of the corpus and %zu mutants: no crash, none over %d s\n", inputs.size(), mutants, kSeconds);
  return 0;
}
