#include "reference/crew.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace warpfuzz {
namespace {

// Longer than what a campaign does between two loops, short enough to leave idle processors alone.
constexpr int spins_before_sleep = 20'000;

// A loop's parts are taken by adding 1 to a word that also holds how many there are: whoever gets a
// number below that owns the part, and the loop cannot end before it is done.
constexpr int parts_shift = 24;
constexpr uint64_t low_mask = (uint64_t{1} << parts_shift) - 1;
constexpr uint64_t generation = uint64_t{1} << 48;  // so that no two loops' words are the same

thread_local bool helps = false;  // a thread of the crew: it starts no loops

size_t next_of(uint64_t word) { return static_cast<size_t>(word & low_mask); }
size_t parts_of(uint64_t word) { return static_cast<size_t>(word >> parts_shift & low_mask); }
bool is_open(uint64_t word) { return next_of(word) < parts_of(word); }

}  // namespace

struct Crew::Team {
  std::atomic<uint64_t> word{0};
  std::atomic<size_t> done{0};
  std::atomic<int> asleep{0};
  std::atomic<bool> stopping{false};
  Loop loop;
  std::vector<std::thread> threads;
  std::mutex tasks_mutex;
  std::deque<std::shared_ptr<Task>> tasks;
  std::atomic<size_t> tasks_waiting{0};

  ~Team() { stop(); }

  // Threads that sleep wait for the word to change.
  void wake() {
    word.fetch_add(generation);
    word.notify_all();
  }

  void stop() {
    stopping.store(true);
    wake();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    stopping.store(false);
  }

  // Takes parts as long as there are some.
  void work() {
    while (is_open(word.load(std::memory_order_acquire))) {
      const uint64_t taken = word.fetch_add(1, std::memory_order_acq_rel);
      if (!is_open(taken)) return;
      loop.run_part(next_of(taken));
      done.fetch_add(1, std::memory_order_release);
    }
  }

  std::shared_ptr<Task> take_task() {
    const std::lock_guard lock(tasks_mutex);
    if (tasks.empty()) return nullptr;
    std::shared_ptr<Task> task = std::move(tasks.front());
    tasks.pop_front();
    tasks_waiting.store(tasks.size(), std::memory_order_relaxed);
    return task;
  }

  void serve() {
    helps = true;
    int spins = 0;
    while (!stopping.load(std::memory_order_relaxed)) {
      const uint64_t seen = word.load(std::memory_order_acquire);
      if (is_open(seen)) {
        work();
        spins = 0;
      } else if (tasks_waiting.load(std::memory_order_relaxed) > 0) {
        if (const auto task = take_task(); task && task->claim()) task->body_();
        spins = 0;
      } else if (++spins < spins_before_sleep) {
        _mm_pause();
      } else {
        asleep.fetch_add(1);
        if (tasks_waiting.load() == 0) word.wait(seen);
        asleep.fetch_sub(1);
        spins = 0;
      }
    }
  }
};

void Crew::Loop::run_part(size_t part) const {
  const size_t begin = part * grain;
  body(context, begin, std::min(begin + grain, count));
}

Crew::Team& Crew::team() {
  static Team team;
  return team;
}

bool Crew::exists() { return !helps && !team().threads.empty(); }

size_t Crew::threads() { return team().threads.size() + 1; }

std::shared_ptr<Crew::Task> Crew::start(std::function<void()> body) {
  auto task = std::make_shared<Task>(std::move(body));
  Team& t = team();
  if (t.threads.empty()) return task;
  {
    const std::lock_guard lock(t.tasks_mutex);
    t.tasks.push_back(task);
    t.tasks_waiting.store(t.tasks.size());
  }
  if (t.asleep.load() > 0) t.wake();
  return task;
}

void Crew::set_threads(size_t threads) {
  if (helps) return;
  Team& t = team();
  t.stop();
  for (size_t i = 1; i < threads; ++i) t.threads.emplace_back([&t] { t.serve(); });
}

void Crew::run(Loop loop) {
  while (loop.parts() > low_mask) loop.grain *= 2;
  Team& t = team();
  t.loop = loop;
  t.done.store(0, std::memory_order_relaxed);
  const uint64_t before = t.word.load(std::memory_order_relaxed);
  t.word.store(((before / generation + 1) * generation) | (uint64_t{loop.parts()} << parts_shift),
               std::memory_order_release);
  if (t.asleep.load() > 0) t.word.notify_all();
  t.work();
  while (t.done.load(std::memory_order_acquire) < loop.parts()) _mm_pause();
}

}  // namespace warpfuzz
