// A concurrent hash map in shards with a reader-writer lock each: threads put words in, count them and look them up.
// Checked by counting with one ordinary map.
// suite: c++
// size: 6500000 quick: 20000 sweep: 800000 1600000 3200000 6500000
// flags: -std=c++20
#include <barrier>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "include/workload.h"

class map {
public:
    void insert(const std::string &key) {
        shard &home = shard_of(key);
        std::unique_lock guard(home.lock);
        home.entries.try_emplace(key, 0);
    }

    void count(const std::string &key) {
        shard &home = shard_of(key);
#ifdef RACE
        // The map itself stays as it is, so that a reader's lock seems enough.
        std::shared_lock guard(home.lock);
#else
        std::unique_lock guard(home.lock);
#endif
        auto found = home.entries.find(key);
        if (found != home.entries.end()) {
            found->second++; //~ RACE second
        }
    }

    std::optional<long> get(const std::string &key) {
        shard &home = shard_of(key);
        std::shared_lock guard(home.lock);
        auto found = home.entries.find(key);
        return found == home.entries.end() ? std::nullopt : std::optional(found->second);
    }

private:
    struct shard {
        std::shared_mutex lock;
        std::unordered_map<std::string, long> entries;
    };

    shard &shard_of(const std::string &key) {
        return shards[std::hash<std::string>()(key) % 32];
    }

    shard shards[32];
};

static const long WORDS = 1000;

static std::string word(long number) {
    return "word " + std::to_string(scramble(static_cast<uint64_t>(number)) % WORDS);
}

int main(int count, char **words) {
    long size = arguments(count, words, 6500000, 1, 1L << 40);
    map map;
    std::barrier meeting(threads);
    std::vector<std::thread> members;
    std::vector<long> missing(static_cast<size_t>(threads));
    for (long me = 0; me < threads; me++) {
        members.emplace_back([&, me] {
            for (long i = first_of(WORDS, me); i < first_of(WORDS, me + 1); i++) {
                map.insert("word " + std::to_string(i));
            }
            meeting.arrive_and_wait();
            // All count the first word, and then their own part of the text.
            map.count(word(0));
            for (long i = first_of(size, me); i < first_of(size, me + 1); i++) {
                map.count(word(i));
            }
            meeting.arrive_and_wait();
            long bad = 0;
            for (long i = first_of(size, me); i < first_of(size, me + 1); i++) {
                bad += map.get(word(i)).value_or(0) < 1;
            }
            missing[static_cast<size_t>(me)] = bad;
        });
    }
    for (auto &member : members) {
        member.join();
    }
    std::unordered_map<std::string, long> expected;
    for (long i = 0; i < size; i++) {
        expected[word(i)]++;
    }
    uint64_t checksum = 0;
    for (const auto &[key, number] : expected) {
        checksum += scramble(static_cast<uint64_t>(number) + std::stoul(key.substr(5)));
    }
    expected[word(0)] += threads;
    bool right = true;
    for (const auto &[key, number] : expected) {
        right &= map.get(key) == number;
    }
    for (long number : missing) {
        right &= number == 0;
    }
    return verdict(right, checksum);
}
