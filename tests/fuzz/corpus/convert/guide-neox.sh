0# Install and run GPT-NeoX
git clone https://github.com/EleutherAI/gpt-neox
cd gpt-neox
pip install -r requirements/requirements.txt
# Configuration file (configs/20B.yml)
# Start training
python deepy.py train configs/20B.yml
