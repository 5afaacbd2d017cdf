// Objects of a thread are destroyed before it is joined, and may use others.
#include <mutex>
#include <string>
#include <vector>

#include "../include/threads.hpp"

std::mutex mutex;
int destroyed;
size_t letters;

struct Local {
    std::vector<std::string> texts;
    ~Local() {
        std::lock_guard guard(mutex);
        destroyed++;
        for (auto &text : texts) {
            letters += text.size();
        }
    }
};

thread_local Local local;

int main() {
    crowd(8, [](int n) {
        for (int i = 0; i < n; i++) {
            local.texts.push_back("a string too long to fit into the object itself");
        }
    });
    std::printf("%d %zu\n", destroyed, letters);
}
