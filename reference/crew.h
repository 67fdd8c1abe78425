// Threads that help with a loop, for campaigns on a GPU: while it works the processors of its host
// are idle, and making values and expectations takes longer than the kernel. Campaigns on the CPU
// device keep every processor busy and have no crew, the default. One crew per process; one thread
// starts loops. A loop never waits for a thread that has not joined it, so it also ends in a forked
// child, which has no crew.
#pragma once

#include <cstddef>

namespace warpfuzz {

class Crew {
 public:
  // How many threads work on a loop, the one that starts it included; 1 is no crew.
  static void set_threads(size_t threads);

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
