#include "compiler/spec/prove/Solver.h"

#include "compiler/spec/prove/Translate.h"
#include "compiler/spec/prove/Work.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

namespace tbem::spec {

namespace {

constexpr int kWaitMilliseconds = 200;

/// One line an answer: the steps that it took, then "none", "unknown REASON", "found SYMBOL NUM DEN ...".
std::string answerLine(const Question& question, unsigned most, std::uint64_t& steps) {
  std::string answer;
  std::uint64_t taken = most;
  try {
    answer = solve(question, most, taken);
  } catch (const std::bad_alloc&) {
    answer = "unknown out of memory";
  } catch (const z3::exception& error) {
    std::string reason = error.msg();
    for (char& c : reason) c = c == '\n' ? ' ' : c;
    answer = "unknown " + reason;
  }
  steps += taken;
  return std::to_string(taken) + " " + answer;
}

bool writeAll(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// Runs in the child: answers from `first` on, one line each, as long as they have taken fewer than `left` steps.
[[noreturn]] void answerAll(const std::vector<Question>& questions, std::size_t first, const SolverLimits& limits,
                            std::uint64_t left, int file) {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0) {
    std::uint64_t have = 0;
    if (std::FILE* status = std::fopen("/proc/self/statm", "r")) {
      unsigned long long pages = 0;
      if (std::fscanf(status, "%llu", &pages) == 1) have = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
      std::fclose(status);
    }
    space.rlim_cur = std::min<rlim_t>(space.rlim_max, have + limits.memory);
    setrlimit(RLIMIT_AS, &space);
  }
  std::uint64_t steps = 0;
  for (std::size_t i = first; i < questions.size(); ++i) {
    const auto most = static_cast<unsigned>(std::min<std::uint64_t>(limits.steps, left - std::min(left, steps)));
    const std::string line = most > 0 ? answerLine(questions[i], most, steps) : std::string("0 unknown ") + Work::kReason;
    if (!writeAll(file, line + "\n")) break;
  }
  _exit(0);
}

Answer parse(const std::string& line, std::size_t symbols) {
  Answer answer;
  std::istringstream in(line);
  std::string word;
  in >> answer.steps >> word;
  if (word == "none") {
    answer.kind = Answer::Kind::None;
  } else if (word == "found") {
    answer.kind = Answer::Kind::Found;
    answer.values.resize(symbols);
    std::size_t symbol = 0;
    Rational value;
    while (in >> symbol >> value.num >> value.den) {
      if (symbol < symbols) answer.values[symbol] = value;
    }
  } else {
    std::getline(in >> std::ws, answer.reason);
  }
  return answer;
}

/// Reads answers of one child into `answers` from `first` on; the number of the first question that has none.
std::size_t collect(int file, const std::vector<Question>& questions, std::size_t first, const SolverLimits& limits,
                    std::vector<Answer>& answers, bool& late) {
  std::string open;
  char buffer[4096];
  const int most = static_cast<int>(limits.seconds) * 1000;
  int waited = 0;
  while (first < questions.size()) {
    pollfd ready{file, POLLIN, 0};
    const int slice = limits.waiting ? std::min(kWaitMilliseconds, most) : most;
    const int status = ::poll(&ready, 1, slice);
    if (status < 0 && errno == EINTR) continue;
    waited = status == 0 ? waited + slice : 0;
    if (limits.waiting) limits.waiting();
    late = waited >= most;
    if (status == 0 && !late) continue;
    if (status <= 0) break;
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    open.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = open.find('\n'); end != std::string::npos && first < questions.size(); end = open.find('\n')) {
      answers[first] = parse(open.substr(0, end), questions[first].context->allDomains().size());
      open.erase(0, end + 1);
      ++first;
    }
  }
  return first;
}

}  // namespace

std::vector<Answer> ask(const std::vector<Question>& questions, const SolverLimits& limits) {
  std::vector<Answer> answers(questions.size());
  std::uint64_t left = limits.allSteps;
  std::size_t next = 0;
  while (next < questions.size()) {
    int ends[2];
    if (::pipe(ends) != 0) break;
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      ::close(ends[0]);
      ::close(ends[1]);
      break;
    }
    if (child == 0) {
      ::close(ends[0]);
      // It ends with its parent, however that ends. Where the parent is gone already there is nobody to tell it.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) _exit(0);
      answerAll(questions, next, limits, left, ends[1]);
    }
    const std::size_t first = next;
    ::close(ends[1]);
    bool late = false;
    next = collect(ends[0], questions, next, limits, answers, late);
    ::close(ends[0]);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (next < questions.size()) {
      answers[next].steps = limits.steps;
      answers[next].reason = late ? "stopped after " + std::to_string(limits.seconds) + " s" : "the solver's process ended early";
      ++next;
    }
    for (std::size_t i = first; i < next; ++i) left -= std::min(left, answers[i].steps);
  }
  for (std::size_t i = next; i < questions.size(); ++i) answers[i].reason = "no process for the solver";
  return answers;
}

}  // namespace tbem::spec
