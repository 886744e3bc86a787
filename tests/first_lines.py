import numpy as np

import shuffledp

colors = ["blue", "green", "red", "white"]
answers = np.repeat(colors, [5_000, 3_000, 1_500, 500])  # one value per user
result = shuffledp.simulate(answers, protocol="pure_dump", values=colors, eps=1.0, delta=1e-6)
print(result)
print("all values at once:", "±" + format(result.simultaneous_half_width, ".2g"))
