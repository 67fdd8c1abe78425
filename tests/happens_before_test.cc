// The order of the race mode against a plain model of the same rules: sets of accesses that threads
// have seen, instead of ticks. Random programs of two blocks with barriers, lane synchronisation,
// fences and strong accesses.
#include "kernels/simt/race/happens_before.h"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <random>
#include <vector>

#include "kernels/simt/race/shadow.h"

namespace warpfuzz::simt::race {
namespace {

constexpr unsigned threads = 64;  // of a block: two warps
constexpr size_t locations = 2;
constexpr size_t most_accesses = 256;
using Set = std::bitset<most_accesses>;

// What a thread has seen of its own block, what of that is fenced, and what it has acquired; of the
// last two also what only counts inside the block that did the access.
struct View {
  Set seen, fenced, fenced_inside, acquired, acquired_inside;

  void add(const View& other) {
    seen |= other.seen;
    fenced |= other.fenced;
    fenced_inside |= other.fenced_inside;
    acquire(other);
  }
  void acquire(const View& other) {
    acquired |= other.acquired;
    acquired_inside |= other.acquired_inside;
  }
};

class Model {
 public:
  void begin_block() { views_.fill({}); }
  void access(unsigned thread, size_t index) { views_[thread].seen.set(index); }
  void fence(unsigned thread, bool device) {
    View& view = views_[thread];
    view.fenced_inside |= view.seen;
    if (device) view.fenced |= view.seen;
  }
  void write(unsigned thread, size_t location) {
    const View& view = views_[thread];
    View& released = released_[location];
    released.acquired |= view.fenced | view.acquired;
    released.acquired_inside |= view.fenced_inside | view.acquired_inside;
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
  bool ordered(size_t access, bool same_block, unsigned thread) const {
    const View& view = views_[thread];
    return (same_block && (view.seen[access] || view.acquired_inside[access])) ||
           view.acquired[access];
  }

 private:
  std::array<View, threads> views_;
  std::array<View, locations> released_;
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
    for (int step = 0; step < 60; ++step) {
      const unsigned thread = below(threads);
      const Actor actor = order.block_base() | thread;
      const unsigned warp = below(2);
      // Whole warps, tiles of 8, and any lanes.
      const uint32_t some = below(2) == 0 ? 0xFFu << 8 * below(4) : static_cast<uint32_t>(random());
      const uint32_t lanes = below(3) == 0 ? ~0u : some;
      switch (below(9)) {
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
  for (uint32_t seed = 0; seed < 400; ++seed) {
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
