export const late = () => "imported late";
