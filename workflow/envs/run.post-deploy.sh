# In the activated environment; SHUFFLEDP_SOURCE is the folder of the project where it is not the working directory.
pip install --no-deps "${SHUFFLEDP_SOURCE:-.}"
