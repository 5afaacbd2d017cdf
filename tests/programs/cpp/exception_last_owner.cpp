// Nobody joins: the last to let go of an exception destroys it, after all others have.
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static std::condition_variable done;
static int destroyed;

struct Failure {
    std::string text{"a text that does not fit into the object itself"};
    int count = 0;
    Failure() = default;
    Failure(const Failure &) = default;
    ~Failure() {
        count = -1;
        text[0] = 'x';
        std::lock_guard lock(mutex);
        destroyed++;
        done.notify_all();
    }
};

int main() {
    for (int i = 0; i < 100; i++) {
        std::exception_ptr held = std::make_exception_ptr(Failure());
        { std::lock_guard lock(mutex); destroyed = 0; }
        for (int n = 0; n < 3; n++) {
            std::thread([p = held]() mutable {
                try {
                    std::rethrow_exception(std::move(p));
                } catch (const Failure &failure) {
                    if (failure.count != 0 || failure.text.size() != 47) {
                        std::puts("gone");
                    }
                }
            }).detach();
        }
        held = nullptr;
        std::unique_lock lock(mutex);
        done.wait(lock, [] { return destroyed > 0; });
    }
    std::puts("done");
}
