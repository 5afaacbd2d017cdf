// Reclamation by epochs: readers say in which epoch they began; what was taken out is freed when nobody is left who could see it.
#include <atomic>
#include <string>

#include "../include/threads.hpp"

constexpr unsigned READERS = 3;

struct Config {
    int version;
    std::string text;
};

std::atomic<Config *> current;
std::atomic<unsigned> epoch{1}, active[READERS];

static void wait_for_readers() {
    unsigned now = epoch.fetch_add(1) + 1;
    for (auto &reader : active) {
        for (;;) {
            unsigned since = reader.load();
            if (since == 0 || since >= now) {
                break;
            }
            std::this_thread::yield();
        }
    }
}

int main() {
    current = new Config{0, "a string too long to fit into the object itself"};
    std::atomic<int> finished{0};
    long sums[READERS + 1] = {};
    crowd(READERS + 1, [&](int n) {
        if (n == READERS) {
            for (int i = 1; i <= 50 || finished < (int)READERS; i++) {
                Config *old = current.exchange(new Config{i, "another string too long for the object"});
                wait_for_readers();
                old->text.clear();
                delete old;
            }
            return;
        }
        for (int i = 0; i < 100; i++) {
            active[n].store(epoch.load());
            Config *config = current.load();
            sums[n] += config->text.empty() + (config->version < 0);
            active[n].store(0, std::memory_order_release);
        }
        finished++;
    });
    delete current.load();
    std::printf("%ld\n", sums[0] + sums[1] + sums[2]);
}
