"""Simulates the network between a program and a server: `wire.py SOCKET SERVER [LOSS SEED]`.

Accepts connections on the Unix socket SOCKET, and passes all bytes to and from the Unix socket
SERVER. While this process is stopped (SIGSTOP), bytes and connections wait, as in a network that
drops all packets. LOSS is the fraction of packets that the network loses, such as 0.3. TCP resends
a lost packet after a time that doubles with each loss, so this program delays bytes by such times,
by at most 0.6 s. SEED fixes the sequence of delays."""
import asyncio
import contextlib
import random
import sys

# The shortest time after which TCP on Linux resends a packet, in seconds.
RESEND_SECONDS = 0.2
# With more losses in a row, a leader may not renew its leadership in time.
RESENDS = 2


def delay(loss, chance):
    """Returns the delay of the next bytes, in seconds."""
    late, wait = 0, RESEND_SECONDS
    for _ in range(RESENDS):
        if chance.random() >= loss:
            break
        late, wait = late + wait, wait * 2
    return late


async def copy(reader, writer, loss, chance):
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            await asyncio.sleep(delay(loss, chance))
            writer.write(data)
            await writer.drain()
    writer.close()


async def main():
    socket, server = sys.argv[1:3]
    loss, seed = (float(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) > 3 else (0, 0)
    chance = random.Random(seed)

    async def accept(reader, writer):
        try:
            there_reader, there_writer = await asyncio.open_unix_connection(server)
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, there_writer, loss, chance),
                             copy(there_reader, writer, loss, chance))

    await (await asyncio.start_unix_server(accept, socket)).serve_forever()


asyncio.run(main())
