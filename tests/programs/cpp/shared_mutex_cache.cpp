// A cache that is looked up under a shared lock, filled under the exclusive one; errors and times turned into text meanwhile.
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>

#include "../include/threads.hpp"

std::shared_mutex lock;
std::map<int, std::shared_ptr<const std::string>> cache;

static std::shared_ptr<const std::string> lookup(int error) {
    {
        std::shared_lock reading(lock);
        if (auto found = cache.find(error); found != cache.end()) {
            return found->second;
        }
    }
    auto made = std::make_shared<const std::string>(std::error_code(error, std::generic_category()).message());
    std::unique_lock writing(lock);
    return cache.emplace(error, std::move(made)).first->second;
}

int main() {
    size_t lengths[4] = {};
    crowd(4, [&](int n) {
        for (int i = 0; i < 100; i++) {
            lengths[n] += lookup(1 + i % 20)->size();
            std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
            std::tm parts;
            char text[40];
            lengths[n] += std::strftime(text, sizeof text, "%Y-%m-%d", gmtime_r(&time, &parts));
            lengths[n] += std::to_string(i * 0.5).size() + (std::stod("2.5") > 2);
            if (i % 30 == 29) {
                std::unique_lock writing(lock);
                cache.erase(n);
            }
        }
    });
    std::printf("%zu %d\n", lengths[0], lengths[0] == lengths[3]);
}
