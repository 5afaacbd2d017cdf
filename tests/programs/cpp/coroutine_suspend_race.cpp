// await_suspend hands the coroutine to another thread, and goes on to use what is in its frame.
#include <coroutine>
#include <exception>
#include <mutex>

#include "../include/threads.hpp"

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

std::mutex mutex;
std::coroutine_handle<> posted;

struct Hop {
    int hops = 0;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
        {
            std::lock_guard lock(mutex);
            posted = handle;
        }
        next_turn();
        turn(3);
        hops++; //~ RACE hops
        next_turn();
    }
    int await_resume() {
        int seen = hops; //~ RACE hops
        next_turn();
        turn(4);
        return seen;
    }
};

Task run(int &out) {
    out = co_await Hop{};
}

int main() {
    int out = -1;
    std::coroutine_handle<> frame;
    together([&] { frame = run(out).handle; },
             [] {
                 turn(2);
                 std::unique_lock lock(mutex);
                 auto handle = posted;
                 lock.unlock();
                 handle.resume();
             });
    frame.destroy();
    std::printf("%d\n", out);
}
