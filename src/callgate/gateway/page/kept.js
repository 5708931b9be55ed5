// What the browser keeps for the page. Where it may keep nothing, all still works until the tab is closed.

const unkept = new Map();

function reader(storage) {
  return (name, otherwise) => {
    try {
      const text = storage().getItem(`callgate.${name}`) ?? unkept.get(name);
      return text === null || text === undefined ? otherwise : JSON.parse(text);
    } catch {
      return otherwise;
    }
  };
}

function writer(storage) {
  return (name, value) => {
    const text = JSON.stringify(value);
    try {
      storage().setItem(`callgate.${name}`, text);
    } catch {
      unkept.set(name, text);
    }
  };
}

export const kept = reader(() => localStorage);
export const keep = writer(() => localStorage);
export const keptInTab = reader(() => sessionStorage);
export const keepInTab = writer(() => sessionStorage);
