// std::notify_all_at_thread_exit: the mutex is given when the thread has ended.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;
static int late;
struct Local {
    ~Local() { late = 2; }
};
static thread_local Local local;

int main() {
    std::thread([] {
        (void)&local;
        std::unique_lock lock(mutex);
        ready = true;
        std::notify_all_at_thread_exit(condition, std::move(lock));
    }).detach();
    std::unique_lock lock(mutex);
    condition.wait(lock, [] { return ready; });
    std::printf("%d\n", late);
}
