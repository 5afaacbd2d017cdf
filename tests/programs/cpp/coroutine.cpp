// A coroutine goes on in another thread each time: its frame is handed over by joins.
#include <coroutine>

#include "../include/threads.hpp"

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
        int value = 0;
    };
    std::coroutine_handle<promise_type> handle;
};

Task steps(int &out) {
    for (int i = 1; i <= 5; i++) {
        out += i;
        co_await std::suspend_always{};
    }
}

int main() {
    int out = 0;
    Task task = steps(out);
    while (!task.handle.done()) {
        std::thread([&] { task.handle.resume(); }).join();
    }
    task.handle.destroy();
    std::printf("%d\n", out);
}
