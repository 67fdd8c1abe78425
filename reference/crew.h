// Threads that help with a loop, for campaigns on a GPU: while it works the processors of its host
// are idle, and making values and expectations takes longer than the kernel. Campaigns on the CPU
// device keep every processor busy and have no crew, the default. One crew per process; one thread
// starts loops and tasks. A loop never waits for a thread that has not joined it, and who needs
// what a task makes can take back one that nobody has begun: both also end in a forked child, which
// has no crew, but for tasks that were under way at the fork, for which it must not wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace warpfuzz {

class Crew {
 public:
  // How many threads work on a loop, the one that starts it included; 1 is no crew. No effect in a
  // thread of the crew, which cannot wait for its own end.
  static void set_threads(size_t threads);
  static size_t threads();

  // Work that is done some time, in whole by one thread. Loops inside it are that thread's alone.
  // The body tells by itself when it is done, and does not throw.
  class Task {
   public:
    explicit Task(std::function<void()> body) : body_(std::move(body)) {}

   private:
    friend class Crew;
    bool claim() { return !claimed_.exchange(true); }
    std::function<void()> body_;
    std::atomic<bool> claimed_{false};
  };
  // The crew does it when it has nothing else to do, in the order of calls; without a crew nobody
  // does.
  static std::shared_ptr<Task> start(std::function<void()> body);
  // Whether nobody has begun the task; then nobody will.
  static bool withdraw(Task& task) { return task.claim(); }

  // A part of a loop over elements that take nanoseconds each.
  static constexpr size_t elements = 1024;

  // Calls body(begin, end) for parts that make up [0, count), in any order and at the same time.
  // Parts are `grain` long but for the last.
  template <class Body>
  static void share(size_t count, size_t grain, const Body& body) {
    if (count <= grain || !exists()) {
      if (count > 0) body(size_t{0}, count);
      return;
    }
    run({count, grain, &body, [](const void* context, size_t begin, size_t end) {
           (*static_cast<const Body*>(context))(begin, end);
         }});
  }

 private:
  struct Loop {
    size_t count = 0, grain = 0;
    const void* context = nullptr;
    void (*body)(const void* context, size_t begin, size_t end) = nullptr;

    size_t parts() const { return (count + grain - 1) / grain; }
    void run_part(size_t part) const;
  };
  struct Team;
  static Team& team();
  static bool exists();
  static void run(Loop loop);
};

}  // namespace warpfuzz
