// The order of the race mode against a plain model of the same rules: sets of accesses that threads
// have seen, instead of ticks. Random programs of two blocks with barriers, lane synchronisation,
// fences and strong accesses.
#include "kernels/simt/race/happens_before.h"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <random>
#include <utility>
#include <vector>

#include "kernels/simt/race/shadow.h"

namespace warpfuzz::simt::race {
namespace {

constexpr unsigned threads = 64;  // of a block: two warps
constexpr size_t locations = 2;
constexpr size_t phases = 2;  // barriers of the kernel
constexpr size_t most_accesses = 256;
using Set = std::bitset<most_accesses>;

// What a thread knows of its own block: accesses, and those that fences cover, for threads of any
// block or of this one.
struct Known {
  Set seen, fenced, fenced_inside;

  void add(const Known& other) {
    seen |= other.seen;
    fenced |= other.fenced;
    fenced_inside |= other.fenced_inside;
  }
};

// And what of that came through phases of barriers; what it has acquired, of that also what only
// counts inside the block that did the access.
struct View {
  Known known, passed;
  Set acquired, acquired_inside;

  void add(const View& other) {
    known.add(other.known);
    acquire(other);
  }
  void acquire(const View& other) {
    known.add(other.passed);
    passed.add(other.passed);
    acquired |= other.acquired;
    acquired_inside |= other.acquired_inside;
  }
};

class Model {
 public:
  void begin_block() {
    views_.fill({});
    open_.fill({});
    ended_.fill({});
  }
  void access(unsigned thread, size_t index) { views_[thread].known.seen.set(index); }
  void fence(unsigned thread, bool device) {
    Known& known = views_[thread].known;
    known.fenced_inside |= known.seen;
    if (device) known.fenced |= known.seen;
  }
  void write(unsigned thread, size_t location) {
    const View& view = views_[thread];
    View& released = released_[location];
    released.acquired |= view.known.fenced | view.acquired;
    released.acquired_inside |= view.known.fenced_inside | view.acquired_inside;
  }
  void read(unsigned thread, size_t location) { views_[thread].acquire(released_[location]); }
  void sync(unsigned first, uint32_t lanes, bool memory) {
    View all;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      memory ? all.add(views_[first + lane]) : all.acquire(views_[first + lane]);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane & 1) != 0) views_[first + lane].add(all);
    }
  }
  void barrier() {
    View all;
    for (const View& view : views_) all.add(view);
    views_.fill(all);
  }
  void arrive(unsigned thread, size_t phase) { open_[phase].add(views_[thread]); }
  void end_phase(size_t phase) { ended_[phase] = std::exchange(open_[phase], {}); }
  void pass(unsigned thread, size_t phase) {
    views_[thread].add(ended_[phase]);
    views_[thread].passed.add(ended_[phase].known);
  }
  bool ordered(size_t access, bool same_block, unsigned thread) const {
    const View& view = views_[thread];
    return (same_block && (view.known.seen[access] || view.acquired_inside[access])) ||
           view.acquired[access];
  }

 private:
  std::array<View, threads> views_;
  std::array<View, locations> released_;
  std::array<View, phases> open_, ended_;
};

struct Stamp {
  Actor actor;
  Tick tick;
};

// Runs one random program through both and compares every pair of an earlier access and a thread.
void compare(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  HappensBefore order;
  Model model;
  std::vector<Stamp> accesses;
  order.begin_launch();
  for (int block = 0; block < 3; ++block) {
    order.begin_block();
    model.begin_block();
    for (int step = 0; step < 90; ++step) {
      const unsigned thread = below(threads);
      const Actor actor = order.block_base() | thread;
      const unsigned warp = below(2);
      // Whole warps, tiles of 8, and any lanes.
      const uint32_t some = below(2) == 0 ? 0xFFu << 8 * below(4) : static_cast<uint32_t>(random());
      const uint32_t lanes = below(3) == 0 ? ~0u : some;
      const size_t phase = below(phases);
      switch (below(14)) {
        case 0:
          order.fence(actor, true);
          model.fence(thread, true);
          break;
        case 1:
          order.fence(actor, false);
          model.fence(thread, false);
          break;
        case 2:
        case 3: {
          const size_t location = below(locations);
          order.strong_write(actor, 0x1000 + location);
          order.step();
          model.write(thread, location);
          break;
        }
        case 4: {
          const size_t location = below(locations);
          order.strong_read(actor, 0x1000 + location);
          model.read(thread, location);
          break;
        }
        case 5:
          order.sync_lanes(warp, lanes, lanes == ~0u);
          model.sync(32 * warp, lanes, true);
          break;
        case 6:
          order.pass_acquired(warp, lanes);
          model.sync(32 * warp, lanes, false);
          break;
        case 7:
          if (below(4) != 0) break;
          order.block_barrier();
          model.barrier();
          break;
        case 8:
        case 9:
          order.arrive(actor, phase);
          model.arrive(thread, phase);
          break;
        case 10:
          order.end_phase(phase);
          model.end_phase(phase);
          break;
        case 11:
          order.pass(actor, phase);
          model.pass(thread, phase);
          break;
        default:
          if (accesses.size() == most_accesses) break;
          model.access(thread, accesses.size());
          accesses.push_back({actor, order.now()});
          break;
      }
      const unsigned reader = below(threads);
      for (size_t i = 0; i < accesses.size(); ++i) {
        const Actor by = order.block_base() | reader;
        ASSERT_EQ(order.ordered(accesses[i].actor, accesses[i].tick, by),
                  model.ordered(i, same_block(accesses[i].actor, by), reader))
            << "seed " << seed << ", block " << block << ", step " << step << ", access " << i
            << " of thread " << (accesses[i].actor & 63) << ", seen by thread " << reader;
      }
    }
  }
  order.begin_launch();
  order.begin_block();
  for (const Stamp& access : accesses) {
    EXPECT_TRUE(order.ordered(access.actor, access.tick, order.block_base()));
  }
}

TEST(HappensBefore, AgreesWithSetsOfWhatThreadsHaveSeen) {
  for (uint32_t seed = 0; seed < 800; ++seed) {
    compare(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The four accesses that a cell keeps stand for all: whoever races with any earlier access races
// with one of them, where order comes from barriers and whole warps.
TEST(Cell, KeepsAWitnessOfEveryUnorderedAccess) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    HappensBefore order;
    Cell cell;
    std::vector<Record> all;
    order.begin_launch();
    for (int block = 0; block < 4; ++block) {
      order.begin_block();
      for (int step = 0; step < 40; ++step) {
        const Actor actor = order.block_base() | static_cast<Actor>(random() % 96);
        const auto races = [&](const Record& record) {
          return record.tick != 0 && record.actor != actor &&
                 !order.ordered(record.actor, record.tick, actor);
        };
        switch (random() % 8) {
          case 0:
            order.block_barrier();
            break;
          case 1:
          case 2:
            order.sync_lanes(static_cast<unsigned>(random() % 3), ~0u, true);
            break;
          case 3:
            if (random() % 8 == 0) order.grid_barrier();
            break;
          default:
            all.push_back({order.now(), actor, 0});
            cell.note(all.back());
            break;
        }
        bool any = false;
        for (const Record& record : all) any = any || races(record);
        ASSERT_EQ(any, races(cell.latest) || races(cell.other_lane) || races(cell.other_warp) ||
                           races(cell.other_block))
            << "seed " << seed << ", block " << block << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace warpfuzz::simt::race
