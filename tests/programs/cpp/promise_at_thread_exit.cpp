// A promise becomes ready when its thread has ended, thread-locals destroyed.
#include <cstdio>
#include <future>
#include <thread>

static int data, late;

struct Local {
    ~Local() { late = 2; }
};
static thread_local Local local;

int main() {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        std::promise<int> promise;
        auto future = promise.get_future();
        std::thread([](std::promise<int> promise) {
            (void)&local;
            data = 1;
            promise.set_value_at_thread_exit(3);
            data = 4;
        }, std::move(promise)).detach();
        sum += future.get() + data + late;
    }
    std::printf("%d\n", sum);
}
